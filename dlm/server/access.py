"""Decides from a request's headers who may use the API, by keys, hosts and origins.

Keys are kept as digests and never logged.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Protocol

from dlm.server.errors import ApiError
from dlm.server.request_checks import AllowedNames, is_loopback

KEY_VARIABLES = ("QUICKSILVER_API_KEY", "QUICKSILVER_API_KEYS")


class Gate(Protocol):
    """Decides which requests are admitted."""

    def check(self, headers: Mapping[str, str]) -> None:
        """Admit a request by its headers, whose names are in lower case, or raise an `ApiError`."""
        ...


class KeyGate:
    """Demands one of several keys; without keys, admits only programs on this machine.

    Raises:
        ValueError: There are no keys, but other machines can reach the server.
    """

    def __init__(
        self, keys: Iterable[str], host: str = "127.0.0.1", allowed_hosts: Iterable[str] = ()
    ) -> None:
        self._digests = [_digest(key) for key in keys]
        self._names = AllowedNames([host, *allowed_hosts])
        if not self._digests and not is_loopback(host):
            raise ValueError(
                f"--host: got {host!r} and no key; set the environment variable "
                f"{KEY_VARIABLES[0]}, or listen on 127.0.0.1"
            )

    def check(self, headers: Mapping[str, str]) -> None:
        """See `Gate.check`."""
        if not self._names.has_host(headers):
            raise ApiError(403, "host not allowed; see --allowed-host", "host_not_allowed")
        if not self._names.has_origin(headers):
            raise ApiError(403, "origin not allowed", "origin_not_allowed")
        if self._digests:
            self._check_key(headers.get("authorization", ""))

    def _check_key(self, authorization: str) -> None:
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise ApiError(401, "a key is needed: Authorization: Bearer …", "missing_api_key")
        shown = _digest(key.strip())
        # All keys are compared, so that the time taken reveals nothing.
        if sum(hmac.compare_digest(shown, digest) for digest in self._digests) == 0:
            raise ApiError(401, "the key is wrong", "invalid_api_key")


def keys_of(environment: Mapping[str, str]) -> list[str]:
    """The keys in an environment's variables, separated by commas."""
    texts = ",".join(environment.get(name, "") for name in KEY_VARIABLES)
    return [key.strip() for key in texts.split(",") if key.strip()]


def _digest(key: str) -> bytes:
    return sha256(key.encode()).digest()
