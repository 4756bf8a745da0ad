"""What servers check of a request before they read it: its host, its origin and its length.

It knows no web framework, and nothing of the answers to what is refused.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit


class AllowedNames:
    """The hosts and origins that requests may name.

    Args:
        hosts: Names of the server besides loopback names and addresses.
        origins: Of pages of other sites, which may ask as the server's own may; their hosts are
            names of the server as well.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        origins = tuple(origins)
        self._origins = {_normalized(origin) for origin in origins}
        self._hosts = {name.lower() for name in hosts}
        self._hosts |= {(urlsplit(origin).hostname or "").lower() for origin in origins}
        self._hosts.discard("")

    def has_host(self, headers: Mapping[str, str]) -> bool:
        """Whether ``Host`` is loopback, an address, or an allowed name.

        Another domain's DNS may have pointed any other name at this server.

        Args:
            headers: Lower-case names.
        """
        name = host_name(headers.get("host", ""))
        return is_loopback(name) or parsed_address(name) is not None or name in self._hosts

    def has_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from no page, the server's own, or one of an allowed origin."""
        origin, host = headers.get("origin"), headers.get("host", "")
        own = {_normalized(f"{scheme}://{host}") for scheme in ("http", "https")}
        return origin is None or _normalized(origin) in self._origins | own


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


def host_name(value: str) -> str:
    """The name in a ``Host`` header, in lower case, without port and brackets; empty for none."""
    try:
        return (urlsplit(f"//{value}").hostname or "").lower()
    except ValueError:
        return ""


async def bounded(
    pieces: AsyncIterable[bytes], most_bytes: int, too_long: Exception
) -> AsyncGenerator[bytes, None]:
    """A body as it comes; where it is longer than ``most_bytes``, ``too_long`` is raised."""
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > most_bytes:
            raise too_long
        yield piece


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
