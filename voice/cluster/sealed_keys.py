"""Ephemeral keys that every ingress accepts, whichever made them.

A key contains what it grants, encrypted and signed (Fernet: AES-128-CBC with HMAC-SHA-256). So only
the secret has to be shared, and whoever has the key cannot read it.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from voice.access.keys import EPHEMERAL_PREFIX, EphemeralKey, Grant
from voice.callers import Caller, CallerKind

MOST_BYTES = 16_384
"""Longest key, since it travels in a header."""


class SealedKeys:
    """Makes and reads keys; see `EphemeralKeys`.

    Args:
        secret: Shared by all ingresses, and hard to guess.
        clock: Returns seconds since the epoch.
    """

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        digest = sha256(b"ephemeral keys\0" + secret.encode()).digest()
        self._seal = Fernet(base64.urlsafe_b64encode(digest))
        self._clock = clock

    def mint(self, lifetime_s: int, session: Mapping[str, Any], user: str = "") -> EphemeralKey:
        """See `EphemeralKeys.mint`.

        Raises:
            ValueError: The user's name or the session is too long.
        """
        if user:
            Caller(CallerKind.USER, user)
        expires_at = int(self._clock()) + lifetime_s
        granted = json.dumps([secrets.token_hex(16), expires_at, session, user])
        # Keys also travel in names of WebSocket subprotocols, which may not contain "=".
        sealed = self._seal.encrypt(granted.encode()).decode().rstrip("=")
        if len(sealed) > MOST_BYTES:
            raise ValueError(f"session: got a key of {len(sealed)}; expected at most {MOST_BYTES}")
        return EphemeralKey(EPHEMERAL_PREFIX + sealed, expires_at)

    def grant_of(self, key: str) -> Grant | None:
        """See `EphemeralKeys.grant_of`."""
        sealed = key.removeprefix(EPHEMERAL_PREFIX)
        try:
            opened = self._seal.decrypt(sealed + "=" * (-len(sealed) % 4))
        except (InvalidToken, ValueError):  # the second for what is not ASCII
            return None
        account, expires_at, session, user = json.loads(opened)
        if expires_at <= self._clock():
            return None
        caller = Caller(CallerKind.USER, user) if user else None
        return Grant(main_key=False, session=session, account=account, caller=caller)
