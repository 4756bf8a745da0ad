"""Checks of a request before and while its body is read: its host, its origin and its length.

This module knows no web framework, and nothing of how refused requests are answered.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit


class AllowedNames:
    """The hosts and origins that requests may name.

    Args:
        hosts: Names of the server, besides loopback names and addresses.
        origins: Origins of other sites whose pages may send requests like the server's own pages;
            their hosts count as names of the server as well.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        origins = tuple(origins)
        self._origins = {_normalized(origin) for origin in origins}
        self._hosts = {name.lower() for name in hosts}
        self._hosts |= {(urlsplit(origin).hostname or "").lower() for origin in origins}
        self._hosts.discard("")

    def has_host(self, headers: Mapping[str, str]) -> bool:
        """Whether ``Host`` is a loopback name, an address, or an allowed name.

        Any other name may belong to a domain whose DNS points it at this server (DNS rebinding).

        Args:
            headers: The request's headers, with names in lower case.
        """
        name = host_name(headers.get("host", ""))
        return is_loopback(name) or parsed_address(name) is not None or name in self._hosts

    def has_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from no page, from the server's own, or an allowed origin's."""
        origin, host = headers.get("origin"), headers.get("host", "")
        own = {_normalized(f"{scheme}://{host}") for scheme in ("http", "https")}
        return origin is None or _normalized(origin) in self._origins | own


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    address = parsed_address(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def parsed_address(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address that a text is; None if it is not one.

    An IPv4 address mapped to IPv6 is returned as IPv4: a socket for both families reports its IPv4
    peers in that form.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def host_name(value: str) -> str:
    """The name in a ``Host`` header, in lower case, without port and brackets; empty if none."""
    try:
        return (urlsplit(f"//{value}").hostname or "").lower()
    except ValueError:
        return ""


async def bounded(
    pieces: AsyncIterable[bytes], most_bytes: int, too_long: Exception
) -> AsyncGenerator[bytes, None]:
    """Yield a body as it arrives; raise ``too_long`` once it exceeds ``most_bytes``."""
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > most_bytes:
            raise too_long
        yield piece


def _normalized(origin: str) -> str:
    """An origin in lower case without a default port; unchanged if it cannot be parsed."""
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
