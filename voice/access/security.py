"""Who may connect: keys, origins, hosts and the number of conversations at once.

Everything here is decided from a request's headers, before anything is allocated for it. Keys are
kept as digests; nothing here logs one.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from voice.config.server import ServerConfig
from voice.errors import ConfigError, VoiceError

KEY_SUBPROTOCOL = "openai-insecure-api-key."
REALTIME_SUBPROTOCOL = "realtime"
EPHEMERAL_PREFIX = "ek_"
MAX_EPHEMERAL_KEYS = 1000
AUDIO_BYTES_PER_S = 64_000
"""A second of the Realtime API's audio: 24 kHz, 16 bits, in base64."""
AUDIO_BURST_S = 60


class AccessDenied(VoiceError):
    """A request was refused.

    Args:
        message: Why, in words for the client's developer.
        status: HTTP status that answers.
        code: A short machine-readable code.
    """

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Grant:
    """An accepted request.

    Attributes:
        main_key: Whether the server's own key was shown, or none is needed.
        account: Names the key that was shown, and tells nothing of it.
        session: What the conversation begins with, from an ephemeral key.
    """

    main_key: bool
    session: Mapping[str, Any] | None = None
    account: str = ""


@dataclass(frozen=True, slots=True)
class EphemeralKey:
    """A key that was just made; the only time its value is known."""

    value: str
    expires_at: int


class EphemeralKeys:
    """Short-lived keys, kept as digests.

    Args:
        clock: Seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._keys: dict[bytes, tuple[float, Mapping[str, Any]]] = {}

    def mint(self, lifetime_s: int, session: Mapping[str, Any]) -> EphemeralKey:
        """Make a key; when there are too many, those that expire first are dropped.

        Args:
            lifetime_s: How long it is good for.
            session: What a conversation begun with it starts from.
        """
        self._drop_expired()
        while len(self._keys) >= MAX_EPHEMERAL_KEYS:
            del self._keys[min(self._keys, key=lambda digest: self._keys[digest][0])]
        value = EPHEMERAL_PREFIX + secrets.token_urlsafe(32)
        expires_at = int(self._clock()) + lifetime_s
        self._keys[_digest(value)] = (expires_at, session)
        return EphemeralKey(value, expires_at)

    def session_of(self, key: str) -> Mapping[str, Any] | None:
        """What a conversation with this key starts from; None when it is unknown or has expired."""
        self._drop_expired()
        # A lookup by digest tells an attacker nothing about how much of a key was right.
        entry = self._keys.get(_digest(key))
        return entry[1] if entry else None

    def _drop_expired(self) -> None:
        now = self._clock()
        self._keys = {digest: entry for digest, entry in self._keys.items() if entry[0] > now}


class AccessPolicy:
    """Decides on requests.

    Args:
        config: Address, origins and hosts.
        api_key: What clients must show; None leaves a loopback server open.
        clock: Seconds since the epoch, for ephemeral keys.

    Raises:
        ConfigError: The server would listen on other than loopback without a key.
    """

    def __init__(
        self,
        config: ServerConfig,
        api_key: str | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_exposure(config, api_key)
        self.ephemeral = EphemeralKeys(clock)
        self._key_digest = _digest(api_key) if api_key is not None else None
        self._origins = {_origin(origin) for origin in config.allowed_origins}
        self._hosts = {name.lower() for name in config.allowed_hosts}
        self._hosts |= {(urlsplit(o).hostname or "").lower() for o in config.allowed_origins}
        self._hosts.add(config.host.lower())

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse a name that someone else's DNS has pointed at this server.

        Raises:
            AccessDenied: ``Host`` is neither loopback, nor an address, nor an allowed name.
        """
        name = (_split_host(headers.get("host", "")) or "").lower()
        if not (is_loopback(name) or _is_address(name) or name in self._hosts):
            raise AccessDenied(
                "host not allowed; name it in server.allowed_hosts", 403, "host_not_allowed"
            )

    def check(self, headers: Mapping[str, str], subprotocols: Sequence[str] = ()) -> Grant:
        """Decide on a request of the API.

        Args:
            headers: Lower-case names.
            subprotocols: Those that a WebSocket offers.

        Raises:
            AccessDenied: Host, origin or key is wrong, or a key is missing.
        """
        self.check_host(headers)
        key = presented_key(headers, subprotocols)
        self.check_origin(headers)
        if key is not None and key.startswith(EPHEMERAL_PREFIX):
            session = self.ephemeral.session_of(key)
            if session is None:
                raise _wrong_key()
            return Grant(main_key=False, session=session, account=_digest(key).hex())
        if self._key_digest is None:
            return Grant(main_key=True)
        if key is None:
            raise AccessDenied("a key is needed", 401, "missing_api_key")
        if not hmac.compare_digest(_digest(key), self._key_digest):
            raise _wrong_key()
        return Grant(main_key=True)

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse another site's page; a request without an origin is no page's.

        Raises:
            AccessDenied: The origin is neither the server's own nor an allowed one.
        """
        origin = headers.get("origin")
        if origin is None:
            return
        normal = _origin(origin)
        own = {f"{scheme}://{headers.get('host', '')}" for scheme in ("http", "https")}
        if normal not in self._origins and normal not in {_origin(name) for name in own}:
            raise AccessDenied(
                "origin not allowed; name it in server.allowed_origins", 403, "origin_not_allowed"
            )


class SessionSlots:
    """Counts the conversations under way.

    Args:
        limit: Most at once.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0

    @contextmanager
    def slot(self) -> Iterator[bool]:
        """Take a place for as long as the context lasts; False when there is none."""
        if self.taken >= self.limit:
            yield False
            return
        self.taken += 1
        try:
            yield True
        finally:
            self.taken -= 1


class Meter:
    """A token bucket: so much on average, and bursts up to a limit.

    Args:
        per_s: What comes back each second.
        burst: What it holds at the most.
        clock: Seconds of any steady clock.
    """

    def __init__(
        self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._left = burst
        self._at_s = clock()

    @property
    def left(self) -> float:
        """What it holds now."""
        return min(self._burst, self._left + (self._clock() - self._at_s) * self._per_s)

    @property
    def burst(self) -> float:
        """What it holds at the most."""
        return self._burst

    @property
    def full_after_s(self) -> float:
        """Seconds until it holds all that it can, if nothing is taken."""
        return (self._burst - self.left) / self._per_s

    def take(self, amount: float = 1.0) -> bool:
        """Take so much; False, and nothing taken, when there is not so much left."""
        now_s = self._clock()
        self._left = min(self._burst, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        if amount > self._left:
            return False
        self._left -= amount
        return True


class Allowances:
    """What each key may spend, in all of its conversations together; here: replies.

    Args:
        per_min: How much on average; a minute's worth may be spent at once.
        clock: Seconds of any steady clock.
    """

    def __init__(self, per_min: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_min = per_min
        self._clock = clock
        self._meters: dict[str, Meter] = {}
        # A conversation holds its meter, which must stay the key's for that long.
        self._held: WeakValueDictionary[str, Meter] = WeakValueDictionary()

    def of(self, account: str) -> Meter:
        """The key's; where there are many, one that is full again is as good as forgotten."""
        if account not in self._meters:
            full = [name for name, meter in self._meters.items() if meter.left >= meter.burst]
            for name in full[: max(0, len(self._meters) - MAX_EPHEMERAL_KEYS + 1)]:
                del self._meters[name]
            meter = self._held.get(account)
            if meter is None:
                meter = Meter(self._per_min / 60, self._per_min, self._clock)
            self._meters[account] = self._held[account] = meter
        return self._meters[account]


class Intake:
    """What one client may send over a WebSocket, on average: messages, and audio.

    Args:
        config: How much.
        clock: Seconds of any steady clock.
    """

    def __init__(self, config: ServerConfig, clock: Callable[[], float] = time.monotonic) -> None:
        burst = max(AUDIO_BURST_S * AUDIO_BYTES_PER_S, config.max_message_bytes)
        self._messages = Meter(config.max_messages_per_s, 10 * config.max_messages_per_s, clock)
        self._bytes = Meter(config.max_audio_speed * AUDIO_BYTES_PER_S, burst, clock)

    def excess(self, message_bytes: int) -> str | None:
        """Why a message of this length is too much; None when it is not."""
        if not self._messages.take(1):
            return "too many messages"
        if not self._bytes.take(message_bytes):
            return "audio comes faster than it can be spoken"
        return None


def check_exposure(config: ServerConfig, api_key: str | None) -> None:
    """Refuse to be reached by others without a key.

    Raises:
        ConfigError: The server would listen on other than loopback without a key.
    """
    if api_key is None and not is_loopback(config.host):
        raise ConfigError(
            f"server.host: got {config.host!r} and no key; set the environment variable "
            f"{config.api_key_env}, or listen on 127.0.0.1"
        )


def chosen_subprotocol(offered: Sequence[str]) -> str | None:
    """The subprotocol to select: never the one that carries a key."""
    return REALTIME_SUBPROTOCOL if REALTIME_SUBPROTOCOL in offered else None


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    if host.lower() == "localhost":
        return True
    if not _is_address(host):
        return False
    address = ipaddress.ip_address(host)
    # So a socket for both families names a peer that has an IPv4 address.
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def presented_key(headers: Mapping[str, str], subprotocols: Sequence[str] = ()) -> str | None:
    """The key that a request shows: as Bearer, as Basic's password, or in a subprotocol."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    if scheme.lower() == "basic":
        return _basic_password(token.strip())
    for name in subprotocols:
        if name.startswith(KEY_SUBPROTOCOL):
            return name.removeprefix(KEY_SUBPROTOCOL)
    return None


def same_secret(given: str, wanted: str) -> bool:
    """Compare in a time that tells nothing about either."""
    return hmac.compare_digest(_digest(given), _digest(wanted))


def _basic_password(token: str) -> str | None:
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except ValueError:
        return None
    return pair.partition(":")[2] or None


def _split_host(value: str) -> str | None:
    """The name in a ``Host`` header, without port and brackets; None when it cannot be read."""
    try:
        return urlsplit(f"//{value}").hostname
    except ValueError:
        return None


def _origin(value: str) -> str:
    """An origin with its default port left out, lower case; what cannot be read stays as it is."""
    try:
        parts = urlsplit(value.lower())
        port = parts.port
    except ValueError:
        return value
    name = parts.hostname
    if not name:
        return value
    if port is None or (parts.scheme, port) in (("http", 80), ("https", 443)):
        return f"{parts.scheme}://{name}"
    return f"{parts.scheme}://{name}:{port}"


def _digest(key: str) -> bytes:
    return sha256(key.encode()).digest()


def _wrong_key() -> AccessDenied:
    return AccessDenied("the key is wrong or has expired", 401, "invalid_api_key")
