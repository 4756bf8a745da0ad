"""HTTP requests to services, each with one deadline and one way to fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container
from typing import TYPE_CHECKING, Any

from voice.tools.registry import ToolError

if TYPE_CHECKING:
    import httpx

Query = dict[str, str | float | int]

logger = logging.getLogger(__name__)


class Unreachable(ToolError):
    """A service, such as "weather service", did not answer in time or did not answer properly."""

    def __init__(self, service: str) -> None:
        super().__init__(f"The {service} cannot be reached.")


class Web:
    """One pool of connections for all tools; ``timeout_s`` includes name lookup and connecting."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None
        # So two first requests share one client, and `close` waits for one that is being made.
        self._changing = asyncio.Lock()

    async def get(self, service: str, url: str, params: Query) -> httpx.Response:
        """Fetch a page as `request` does; redirects are followed."""
        return await self.request(service, "GET", url, params=params)

    async def request(
        self,
        service: str,
        method: str,
        url: str,
        *,
        expected: Container[int] = (401, 404),
        **options: Any,
    ) -> httpx.Response:
        """Send a request; ``options`` are those of ``httpx.AsyncClient.request``.

        Args:
            expected: The statuses beside success that are returned.

        Raises:
            Unreachable: No answer in time, or another status.
        """
        client = await self._connected()
        import httpx

        try:
            async with asyncio.timeout(self._timeout_s):
                response = await client.request(method, url, **options)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL) as error:
            logger.warning("%s: %s", service, type(error).__name__)
            raise Unreachable(service) from error
        if not response.is_success:
            logger.warning("%s: status %d", service, response.status_code)
            if response.status_code not in expected:
                raise Unreachable(service)
        return response

    async def close(self) -> None:
        """Close all connections; may be called again."""
        async with self._changing:
            if self._client is not None:
                await self._client.aclose()
                self._client = None

    async def _connected(self) -> httpx.AsyncClient:
        async with self._changing:
            if self._client is None:
                # Importing httpx and reading the certificates takes a tenth of a second, and
                # neither the start nor audio can wait that long.
                self._client = await asyncio.to_thread(_client)
            return self._client


def _client() -> httpx.AsyncClient:
    import httpx

    return httpx.AsyncClient(follow_redirects=True, timeout=None)


def json_of(service: str, response: httpx.Response) -> Any:
    """The JSON in a service's answer.

    Raises:
        Unreachable: It is not JSON.
    """
    try:
        return response.json()
    except ValueError as error:
        logger.warning("%s: not JSON", service)
        raise Unreachable(service) from error
