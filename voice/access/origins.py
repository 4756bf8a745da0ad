"""The hosts and origins that requests may name: protection from DNS rebinding and foreign pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, IPv6Network

from dlm.server.request_checks import AllowedNames, host_name, is_loopback, parsed_address
from voice.config.server import ServerConfig
from voice.errors import VoiceError

_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that reverse proxies add."""


class AccessDenied(VoiceError):
    """A request was refused.

    Args:
        message: The reason, for the client's developer.
        status: HTTP status of the response.
        code: A short machine-readable code.
    """

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class AllowedOrigins:
    """The hosts and origins that are allowed: those of the server's own page, and configured ones.

    Args:
        config: The server's address, and the allowed hosts and origins.
    """

    def __init__(self, config: ServerConfig) -> None:
        hosts = [config.host, *config.allowed_hosts]
        self._names = AllowedNames(hosts, config.allowed_origins)

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse a host name that DNS of another domain may have pointed at this server.

        Args:
            headers: The request's headers, with lower-case names.

        Raises:
            AccessDenied: ``Host`` is neither loopback, nor an address, nor an allowed name.
        """
        if not self._names.has_host(headers):
            raise AccessDenied(
                "host not allowed; name it in server.allowed_hosts", 403, "host_not_allowed"
            )

    def allows(self, origin: str) -> bool:
        """Whether pages of this origin are allowed besides the server's own."""
        return self._names.has_origin({"origin": origin})

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse pages of other sites; a request without an origin does not come from a page.

        Raises:
            AccessDenied: The origin is neither the server's own nor an allowed one.
        """
        if not self._names.has_origin(headers):
            raise AccessDenied(
                "origin not allowed; name it in server.allowed_origins", 403, "origin_not_allowed"
            )


def names_loopback(headers: Mapping[str, str]) -> bool:
    """Whether everything that a request says of its path is local, and no proxy has forwarded it.

    Args:
        headers: The request's headers, with lower-case names.
    """
    if any(name in headers for name in _FORWARDED):
        return False
    named = [headers.get("host", "")]
    if "origin" in headers:
        named.append(headers["origin"].partition("://")[2])
    return all(is_loopback(host_name(each)) for each in named)


def in_networks(address: str, networks: Iterable[IPv4Network | IPv6Network]) -> bool:
    """Whether an address lies in one of the networks; False for text that is not an address."""
    parsed = parsed_address(address)
    return parsed is not None and any(parsed in network for network in networks)
