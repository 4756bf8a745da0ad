"""A house that is a Home Assistant instance, over its REST API.

Source: https://developers.home-assistant.io/docs/api/rest
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from voice.errors import ConfigError
from voice.tools.builtin.house import Device
from voice.tools.registry import ToolError
from voice.tools.web import Unreachable, Web, json_of

_SERVICE = "house"
_KINDS = {
    "light": "light", "switch": "switch", "fan": "fan", "lock": "lock", "cover": "cover",
    "climate": "thermostat", "media_player": "media", "vacuum": "switch",
    "input_boolean": "switch",
}  # fmt: skip
"""Home Assistant's domain → kind of device; entities of other domains are left out."""
_SERVICES = {
    ("lock", "locked"): "lock", ("lock", "unlocked"): "unlock",
    ("cover", "open"): "open_cover", ("cover", "closed"): "close_cover",
    ("vacuum", "on"): "start", ("vacuum", "off"): "return_to_base",
}  # fmt: skip
"""Domain and state → service; everything else is turned on and off."""
_LEVELS = {
    "light": ("turn_on", "brightness_pct"),
    "fan": ("set_percentage", "percentage"),
    "cover": ("set_cover_position", "position"),
    "climate": ("set_temperature", "temperature"),
    "media_player": ("volume_set", "volume_level"),
}
"""Domain → the service that takes a number, and its field."""
_OFF_STATES = {"docked": "off", "returning": "off", "cleaning": "on", "playing": "on",
               "paused": "on", "idle": "on", "standby": "off"}  # fmt: skip

_NO_STATES = ("unavailable", "unknown")


class HomeAssistant:
    """See `voice.tools.builtin.house.House`; ``token`` is a long-lived access token.

    Raises:
        ConfigError: There is no token.
    """

    def __init__(self, url: str, token: str | None, web: Web) -> None:
        if not token:
            raise ConfigError(
                "tools.home_assistant_url: got a URL but no token; expected one in the"
                " environment variable that tools.home_assistant_token_env names"
            )
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}
        self._web = web
        self._seen: list[Device] = []

    async def devices(self) -> Sequence[Device]:
        """See `House.devices`."""
        states = await self._ask("GET", "/api/states", None)
        try:
            known = (state for state in states if _domain(state["entity_id"]) in _KINDS)
            self._seen = [_device(state) for state in known]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unreachable(_SERVICE) from error
        return self._seen

    def seen(self) -> Sequence[Device]:
        """See `House.seen`."""
        return self._seen

    async def set_state(self, device: Device, state: str) -> None:
        """See `House.set_state`."""
        domain = _domain(device.identity)
        service, fields = _call(domain, state)
        await self._ask(
            "POST", f"/api/services/{domain}/{service}", {"entity_id": device.identity, **fields}
        )

    async def close(self) -> None:
        """See `House.close`; does nothing, as the toolbox closes the connections."""

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        response = await self._web.request(
            _SERVICE,
            method,
            self._url + path,
            expected=(400, 401, 403, 404, 500),
            headers=self._headers,
            json=body,
        )
        if response.status_code in (401, 403):
            raise ToolError("The house refused the access token.")
        if response.status_code == 404:
            raise Unreachable(_SERVICE)
        if not response.is_success:
            raise ToolError("The house answered with an error.")
        return json_of(_SERVICE, response)


def _domain(entity_id: str) -> str:
    return entity_id.partition(".")[0]


def _device(entity: dict[str, Any]) -> Device:
    identity = entity["entity_id"]
    attributes = entity.get("attributes", {})
    domain = _domain(identity)
    name = attributes.get("friendly_name") or identity.partition(".")[2].replace("_", " ")
    state = str(entity["state"])
    # One entity's odd attribute must not hide the house.
    with suppress(TypeError, ValueError, OverflowError):
        state = _told(domain, state, attributes)
    return Device(name.lower(), _KINDS[domain], state, identity)


def _told(domain: str, state: str, attributes: dict[str, Any]) -> str:
    """An entity's state as it is spoken, with its level if it has one."""
    if domain == "light" and state == "on" and attributes.get("brightness"):
        level = round(attributes["brightness"] * 100 / 255)
        return "on" if level >= 99 else f"{level} percent"
    if domain == "climate" and state != "off" and attributes.get("temperature") is not None:
        return f"{float(attributes['temperature']):g} degrees"
    return _OFF_STATES.get(state, state) if domain in ("vacuum", "media_player") else state


def _call(domain: str, state: str) -> tuple[str, dict[str, Any]]:
    """The service, and its fields, that sets an entity of a domain to a state."""
    if (domain, state) in _SERVICES:
        return _SERVICES[domain, state], {}
    if state in ("on", "off"):
        return f"turn_{state}", {}
    number = re.match(r"\d+(?:\.\d+)?", state)
    if number is None and (domain != "light" or state in _NO_STATES):
        # An undo may ask for such a state, because the device was in it before.
        raise ToolError(f"I cannot set it to {state}.")
    if number is None:
        return "turn_on", {"color_name": state.replace(" ", "")}
    service, field = _LEVELS[domain]
    value = float(number[0])
    return service, {field: value / 100 if field == "volume_level" else round(value, 1)}
