"""The keys that clients present: the server's own, and ephemeral ones for browsers.

Keys are kept as digests, and never logged.
"""

from __future__ import annotations

import base64
import hmac
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from dlm.server.request_checks import is_loopback
from voice.access.origins import AccessDenied, AllowedOrigins, names_loopback
from voice.callers import LOCAL, OPERATOR, Caller, CallerKind
from voice.config.server import ServerConfig
from voice.errors import ConfigError

KEY_SUBPROTOCOL = "openai-insecure-api-key."
REALTIME_SUBPROTOCOL = "realtime"
EPHEMERAL_PREFIX = "ek_"
MAX_EPHEMERAL_KEYS = 1000


@dataclass(frozen=True, slots=True)
class Grant:
    """What an accepted request may do.

    Attributes:
        main_key: Whether the server's own key was presented, or none is needed.
        session: Session fields from an ephemeral key, with which the conversation begins.
        account: Identifies an ephemeral key without revealing it; empty for other requests.
        caller: The caller that the request belongs to; None for a stranger.
    """

    main_key: bool
    session: Mapping[str, Any] | None = None
    account: str = ""
    caller: Caller | None = None

    def check_main(self) -> None:
        """Refuse an ephemeral key, which only opens conversations.

        Raises:
            AccessDenied: The request came with an ephemeral key.
        """
        if not self.main_key:
            raise AccessDenied("an ephemeral key opens conversations only", 403, "insufficient_key")

    def check_operator(self) -> None:
        """Refuse a request without the server's own key, even if the server needs none.

        Raises:
            AccessDenied: The key was not presented.
        """
        if self.caller != OPERATOR:
            raise AccessDenied("the server's own key is needed", 403, "insufficient_key")


@dataclass(frozen=True, slots=True)
class EphemeralKey:
    """A key that has just been made; its value is not kept anywhere."""

    value: str
    expires_at: int


class EphemeralKeys:
    """Short-lived keys, kept as digests.

    Args:
        clock: Returns seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._keys: dict[bytes, tuple[float, Grant]] = {}

    def mint(self, lifetime_s: int, session: Mapping[str, Any], user: str = "") -> EphemeralKey:
        """Make a key; if there are too many, those that expire first are dropped.

        Args:
            lifetime_s: How long the key is valid.
            session: Session fields with which a conversation opened with the key begins.
            user: The user who converses with it; empty for a stranger.

        Raises:
            ValueError: The user's name is too long.
        """
        caller = Caller(CallerKind.USER, user) if user else None
        self._drop_expired()
        while len(self._keys) >= MAX_EPHEMERAL_KEYS:
            del self._keys[min(self._keys, key=lambda digest: self._keys[digest][0])]
        value = EPHEMERAL_PREFIX + secrets.token_urlsafe(32)
        expires_at = int(self._clock()) + lifetime_s
        digest = _digest(value)
        grant = Grant(main_key=False, session=session, account=digest.hex(), caller=caller)
        self._keys[digest] = (expires_at, grant)
        return EphemeralKey(value, expires_at)

    def grant_of(self, key: str) -> Grant | None:
        """What a key grants; None if it is unknown or has expired."""
        self._drop_expired()
        # A lookup by digest does not reveal how much of a guess was right.
        entry = self._keys.get(_digest(key))
        return entry[1] if entry else None

    def _drop_expired(self) -> None:
        now = self._clock()
        self._keys = {digest: entry for digest, entry in self._keys.items() if entry[0] > now}


class MakesKeys(Protocol):
    """Makes and checks ephemeral keys: `EphemeralKeys`, or one that several servers share."""

    def mint(self, lifetime_s: int, session: Mapping[str, Any], user: str = "") -> EphemeralKey:
        """See `EphemeralKeys.mint`."""
        ...

    def grant_of(self, key: str) -> Grant | None:
        """See `EphemeralKeys.grant_of`."""
        ...


class AccessPolicy:
    """Accepts or refuses API requests by host, origin and key.

    Args:
        config: The server's address, and the allowed hosts and origins.
        api_key: The key that clients must present; None leaves a loopback server open.
        ephemeral: Keeps the ephemeral keys; None keeps them in this process.

    Raises:
        ConfigError: As for `check_exposure`.
    """

    def __init__(
        self,
        config: ServerConfig,
        api_key: str | None,
        ephemeral: MakesKeys | None = None,
    ) -> None:
        check_exposure(config, api_key)
        self.origins = AllowedOrigins(config)
        self.ephemeral = ephemeral or EphemeralKeys()
        self._key_digest = _digest(api_key) if api_key is not None else None

    def check(
        self, headers: Mapping[str, str], subprotocols: Sequence[str] = (), peer: str = ""
    ) -> Grant:
        """Check an API request.

        Args:
            headers: The request's headers, with lower-case names.
            subprotocols: Subprotocols that a WebSocket offers.
            peer: The address that the request comes from; empty if unknown.

        Raises:
            AccessDenied: Host, origin or key is wrong, or a key is missing.
        """
        self.origins.check_host(headers)
        self.origins.check_origin(headers)
        key = presented_key(headers, subprotocols)
        if key is not None and key.startswith(EPHEMERAL_PREFIX):
            grant = self.ephemeral.grant_of(key)
            if grant is None:
                raise _wrong_key()
            return grant
        if self._key_digest is None:
            local = is_loopback(peer) and names_loopback(headers)
            return Grant(main_key=True, caller=LOCAL if local else None)
        if key is None:
            raise AccessDenied("a key is needed", 401, "missing_api_key")
        if not hmac.compare_digest(_digest(key), self._key_digest):
            raise _wrong_key()
        return Grant(main_key=True, caller=OPERATOR)


def check_exposure(config: ServerConfig, api_key: str | None) -> None:
    """Refuse to listen on anything but loopback without a key.

    Raises:
        ConfigError: The server would be reachable from other machines without a key.
    """
    if api_key is None and not is_loopback(config.host):
        raise ConfigError(
            f"server.host: got {config.host!r} and no key; set the environment variable "
            f"{config.api_key_env}, or listen on 127.0.0.1"
        )


def chosen_subprotocol(offered: Sequence[str]) -> str | None:
    """The subprotocol to select: never the one that carries a key."""
    return REALTIME_SUBPROTOCOL if REALTIME_SUBPROTOCOL in offered else None


def presented_key(headers: Mapping[str, str], subprotocols: Sequence[str] = ()) -> str | None:
    """The key in a request: a bearer token, Basic's password, or in a subprotocol."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    if scheme.lower() == "basic":
        return _basic_password(token.strip())
    for name in subprotocols:
        if name.startswith(KEY_SUBPROTOCOL):
            return name.removeprefix(KEY_SUBPROTOCOL)
    return None


def same_secret(given: str, expected: str) -> bool:
    """Compare in a time that reveals nothing about either secret."""
    return hmac.compare_digest(_digest(given), _digest(expected))


def _basic_password(token: str) -> str | None:
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except ValueError:
        return None
    return pair.partition(":")[2] or None


def _digest(key: str) -> bytes:
    return sha256(key.encode()).digest()


def _wrong_key() -> AccessDenied:
    return AccessDenied("the key is wrong or has expired", 401, "invalid_api_key")
