"""The hosts and origins that requests may name: protection from DNS rebinding and foreign pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from voice.config.server import ServerConfig
from voice.errors import VoiceError

_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that reverse proxies add."""


class AccessDenied(VoiceError):
    """A request was refused.

    Args:
        message: Why, in words for the client's developer.
        status: HTTP status of the answer.
        code: A short machine-readable code.
    """

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class AllowedOrigins:
    """The hosts and origins of a server's own page and of the configuration.

    Args:
        config: Address, origins and hosts.
    """

    def __init__(self, config: ServerConfig) -> None:
        self._origins = {_normalized(origin) for origin in config.allowed_origins}
        self._hosts = {name.lower() for name in config.allowed_hosts}
        self._hosts |= {(urlsplit(o).hostname or "").lower() for o in config.allowed_origins}
        self._hosts.add(config.host.lower())

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse a host name that another domain's DNS may have pointed at this server.

        Args:
            headers: Lower-case names.

        Raises:
            AccessDenied: ``Host`` is neither loopback, nor an address, nor an allowed name.
        """
        name = (_host_name(headers.get("host", "")) or "").lower()
        if not (is_loopback(name) or parsed_address(name) is not None or name in self._hosts):
            raise AccessDenied(
                "host not allowed; name it in server.allowed_hosts", 403, "host_not_allowed"
            )

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse the page of another site; a request without an origin comes from no page.

        Raises:
            AccessDenied: The origin is neither the server's own nor an allowed one.
        """
        origin = headers.get("origin")
        if origin is None:
            return
        own = {_normalized(f"{scheme}://{headers.get('host', '')}") for scheme in ("http", "https")}
        if _normalized(origin) not in self._origins | own:
            raise AccessDenied(
                "origin not allowed; name it in server.allowed_origins", 403, "origin_not_allowed"
            )


def names_loopback(headers: Mapping[str, str]) -> bool:
    """Whether all that a request tells of its way is this machine: no proxy has forwarded it.

    Args:
        headers: Lower-case names.
    """
    if any(name in headers for name in _FORWARDED):
        return False
    named = [headers.get("host", "")]
    if "origin" in headers:
        named.append(headers["origin"].partition("://")[2])
    return all(is_loopback(_host_name(each) or "") for each in named)


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    address = parsed_address(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def parsed_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address; None for other text. An IPv4 address that is mapped to IPv6 is an IPv4 address.

    A socket for both families gives its IPv4 peers such addresses.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def in_networks(address: str, networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Whether an address lies in one of the networks; False for text that is no address."""
    parsed = parsed_address(address)
    return parsed is not None and any(parsed in network for network in networks)


def _host_name(value: str) -> str | None:
    """The name in a ``Host`` header, without port and brackets; None when it cannot be read."""
    try:
        return urlsplit(f"//{value}").hostname
    except ValueError:
        return None


def _normalized(origin: str) -> str:
    """An origin in lower case without its default port; one that cannot be read is unchanged."""
    try:
        parts = urlsplit(origin.lower())
        port = parts.port
    except ValueError:
        return origin
    if not parts.hostname:
        return origin
    if port is None or (parts.scheme, port) in (("http", 80), ("https", 443)):
        return f"{parts.scheme}://{parts.hostname}"
    return f"{parts.scheme}://{parts.hostname}:{port}"
