"""Twilio's requests: signatures, tickets for streams, and the TwiML that connects a call.

A signature proves that a request is Twilio's, but it is the same for every stream, because Twilio
signs only the address. So each call also gets a short-lived ticket, valid once, which the stream
sends in its first message. Source: Twilio "Webhooks security" and "TwiML <Stream>".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, quoteattr

from voice.access.origins import AccessDenied
from voice.errors import ConfigError, ProtocolError

SIGNATURE = "x-twilio-signature"
SETTINGS = "x-twilio-webhooks-signature-settings"
CALL_ID = re.compile("CA[0-9a-fA-F]{32}")
"""Signatures cover names and values without separators. Without this check, a replay could move the
next field into the call's id and pass for another call."""
VOICE_PATH, AFTER_PATH, STREAM_PATH = "/twilio/voice", "/twilio/after", "/twilio/stream"
TICKET_S = 60.0
MAX_CALLS = 10_000

_XML = '<?xml version="1.0" encoding="UTF-8"?>'


class TwilioSignatures:
    """Checks Twilio's signatures.

    Args:
        public_url: Origin under which Twilio reaches this server.
        auth_token: The account's token, with which Twilio signs in SHA-1.
        shared_key: Secret of a shared key, which signs in SHA-256; None refuses such signatures.

    Raises:
        ConfigError: The address is not an https origin.
    """

    def __init__(self, public_url: str, auth_token: str, shared_key: str | None = None) -> None:
        parts = urlsplit(public_url)
        if parts.scheme != "https" or not parts.hostname or parts.path not in ("", "/"):
            raise ConfigError(
                f"telephony.public_url: got {public_url!r}; expected https://name of this server"
            )
        host, port = parts.hostname, parts.port
        # Twilio signs the port in some requests and leaves it out in others.
        self._hosts = [host, f"{host}:{port or 443}"]
        self._auth_token = auth_token.encode()
        self._shared_key = shared_key.encode() if shared_key else None
        self.host = host
        self.authority = host if port in (None, 443) else f"{host}:{port}"

    def check(
        self,
        scheme: str,
        path: str,
        headers: Mapping[str, str],
        form: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Refuse a request that Twilio did not sign.

        Args:
            scheme: ``https``, or ``wss`` for a stream.
            path: The request's path, with its query if it has one.
            headers: The request's headers, with lower-case names.
            form: The fields of a POST.

        Raises:
            AccessDenied: The signature is missing or wrong.
        """
        given = headers.get(SIGNATURE, "")
        key, digest = self._key_of(headers.get(SETTINGS, ""))
        # Each distinct field once, sorted, as in Twilio's own validator.
        fields = "".join(f"{name}{value}" for name, value in sorted(set(form)))
        right = False
        for host in self._hosts:
            signed = f"{scheme}://{host}{path}{fields}".encode()
            wanted = base64.b64encode(hmac.digest(key, signed, digest))
            right |= hmac.compare_digest(wanted, given.encode())
        if not right:
            raise AccessDenied("the signature is wrong", 403, "invalid_signature")

    def _key_of(self, settings: str) -> tuple[bytes, str]:
        pairs = dict(pair.strip().partition("=")[::2] for pair in settings.split(","))
        algorithm = pairs.get("algorithm", "HMAC_SHA1").upper()
        if algorithm == "HMAC_SHA1":
            return self._auth_token, "sha1"
        if algorithm == "HMAC_SHA256" and self._shared_key is not None:
            return self._shared_key, "sha256"
        raise AccessDenied("the signature's algorithm is not accepted", 403, "invalid_signature")


class TwilioCalls:
    """Calls from the webhook that announces them to the one that follows their stream.

    Bounded: if there are too many calls, the oldest is forgotten.

    Args:
        clock: Returns the seconds of any monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tickets: OrderedDict[str, tuple[str, float, str]] = OrderedDict()
        self._begun: OrderedDict[str, str] = OrderedDict()

    def ticket(self, call_id: str, number: str = "") -> str:
        """Make a ticket for a call's stream; it replaces any earlier one.

        Args:
            number: Number of the far side, which `begin` returns.

        Raises:
            AccessDenied: The call has already had its stream, so the request is a replay.
        """
        if call_id in self._begun:
            raise AccessDenied("the call has had its stream", 403, "replayed")
        value = secrets.token_urlsafe(24)
        self._tickets[call_id] = (_digest(value), self._clock() + TICKET_S, number)
        _forget(self._tickets)
        return value

    def begin(self, call_id: str, ticket: str) -> str:
        """Redeem the ticket of a stream that begins.

        Returns:
            The number that was passed to `ticket`.

        Raises:
            ProtocolError: The ticket is not this call's, has been used, or has expired.
        """
        digest, until_s, number = self._tickets.pop(call_id, ("", 0.0, ""))
        if self._clock() > until_s or not hmac.compare_digest(digest, _digest(ticket)):
            raise ProtocolError("the ticket of the stream is wrong", "invalid_ticket")
        self._begun[call_id] = ""
        _forget(self._begun)
        return number

    def hand_over(self, call_id: str, number: str) -> None:
        """Remember the number that a call is transferred to."""
        self._begun[call_id] = number
        _forget(self._begun)

    def after(self, call_id: str) -> str:
        """The number that a call is transferred to, returned once; empty if there is none."""
        number = self._begun.get(call_id, "")
        if number:
            self._begun[call_id] = ""
        return number


def stream_twiml(authority: str, parameters: Mapping[str, str]) -> str:
    """TwiML that connects a call to the stream, and afterwards asks for `after_twiml`.

    Args:
        authority: Public name of this server, with its port unless that is 443.
        parameters: Sent in the stream's first message.
    """
    inner = "".join(
        f"<Parameter name={quoteattr(name)} value={quoteattr(value)}/>"
        for name, value in parameters.items()
    )
    after = quoteattr(f"https://{authority}{AFTER_PATH}")
    url = quoteattr(f"wss://{authority}{STREAM_PATH}")
    stream = f"<Stream url={url}>{inner}</Stream>"
    return f"{_XML}<Response><Connect action={after}>{stream}</Connect></Response>"


def busy_twiml() -> str:
    """TwiML that tells the caller that all lines are busy, and hangs up."""
    said = "All lines are busy at the moment. Please call again in a minute."
    return f"{_XML}<Response><Say>{said}</Say><Hangup/></Response>"


def after_twiml(number: str) -> str:
    """TwiML that puts a call through to a number, or hangs up if there is none."""
    verb = f"<Dial>{escape(number)}</Dial>" if number else "<Hangup/>"
    return f"{_XML}<Response>{verb}</Response>"


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _forget(calls: OrderedDict[str, tuple[str, float, str]] | OrderedDict[str, str]) -> None:
    while len(calls) > MAX_CALLS:
        calls.popitem(last=False)
