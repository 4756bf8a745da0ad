"""The hosts and origins that requests may name: protection from DNS rebinding and foreign pages."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from voice.config.server import ServerConfig
from voice.errors import VoiceError


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
        if not (is_loopback(name) or _is_address(name) or name in self._hosts):
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


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    if not _is_address(host):
        return False
    address = ipaddress.ip_address(host)
    # A socket for both families gives an IPv4 peer an IPv6 address.
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


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
