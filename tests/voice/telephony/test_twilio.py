import base64
import hmac
from xml.etree import ElementTree

import pytest

from voice.access.origins import AccessDenied
from voice.errors import ConfigError, ProtocolError
from voice.telephony.twilio import (
    MAX_CALLS,
    TICKET_S,
    TwilioCalls,
    TwilioSignatures,
    stream_twiml,
)

URL, TOKEN, SHARED = "https://voice.example.com", "12345", "shared-secret"
FORM = [("To", "+18005551212"), ("CallSid", "CA1"), ("Digits", ""), ("To", "+18005551212")]


def signed(text: str, key: str = TOKEN, algorithm: str = "sha1") -> dict[str, str]:
    digest = hmac.digest(key.encode(), text.encode(), algorithm)
    return {"x-twilio-signature": base64.b64encode(digest).decode()}


@pytest.mark.parametrize("host", ["voice.example.com", "voice.example.com:443"])
def test_a_signed_request_passes_with_or_without_its_port(host: str) -> None:
    signatures = TwilioSignatures(URL, TOKEN)
    signatures.check("wss", "/twilio/stream", signed(f"wss://{host}/twilio/stream"))
    form = "CallSidCA1DigitsTo+18005551212"
    headers = signed(f"https://{host}/twilio/voice{form}")
    signatures.check("https", "/twilio/voice", headers, FORM)


def test_another_port_is_part_of_the_address() -> None:
    signatures = TwilioSignatures(f"{URL}:8443", TOKEN)
    assert signatures.authority == "voice.example.com:8443"
    signatures.check("wss", "/twilio/stream", signed("wss://voice.example.com:8443/twilio/stream"))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-twilio-signature": ""},
        {"x-twilio-signature": "é"},
        signed("wss://voice.example.com/twilio/stream", key="guess"),
        signed("https://voice.example.com/twilio/stream"),
        signed("wss://evil.example.com/twilio/stream"),
        signed("wss://voice.example.com/twilio/streams"),
        signed("wss://voice.example.com/twilio/stream", algorithm="sha256"),
    ],
)
def test_a_forged_signature_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(AccessDenied) as denied:
        TwilioSignatures(URL, TOKEN).check("wss", "/twilio/stream", headers)
    assert denied.value.status == 403


def test_a_changed_field_is_noticed() -> None:
    headers = signed("https://voice.example.com/twilio/voiceCallSidCA1")
    signatures = TwilioSignatures(URL, TOKEN)
    signatures.check("https", "/twilio/voice", headers, [("CallSid", "CA1")])
    for form in ([("CallSid", "CA2")], [("CallSid", "CA1"), ("To", "+1")], []):
        with pytest.raises(AccessDenied):
            signatures.check("https", "/twilio/voice", headers, form)


def test_a_shared_key_signs_with_sha_256() -> None:
    settings = {"x-twilio-webhooks-signature-settings": "key=webhooks_1,algorithm=HMAC_SHA256"}
    headers = signed("wss://voice.example.com/s", SHARED, "sha256") | settings
    TwilioSignatures(URL, TOKEN, SHARED).check("wss", "/s", headers)
    with pytest.raises(AccessDenied, match="algorithm"):
        TwilioSignatures(URL, TOKEN).check("wss", "/s", headers)
    odd = {"x-twilio-webhooks-signature-settings": "algorithm=NONE"}
    with pytest.raises(AccessDenied, match="algorithm"):
        TwilioSignatures(URL, TOKEN, SHARED).check("wss", "/s", headers | odd)


@pytest.mark.parametrize("url", ["", "http://voice.example.com", "voice.example.com", f"{URL}/x"])
def test_the_public_address_is_an_https_origin(url: str) -> None:
    with pytest.raises(ConfigError, match="public_url"):
        TwilioSignatures(url, TOKEN)


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_wrong_ticket_uses_the_right_one_up() -> None:
    calls = TwilioCalls(Clock())
    ticket = calls.ticket("CA1")
    for guess in ("", ticket):
        with pytest.raises(ProtocolError, match="ticket"):
            calls.begin("CA1", guess)


def test_a_ticket_is_good_for_a_while_once_and_a_replay_gets_none() -> None:
    clock = Clock()
    calls = TwilioCalls(clock)
    old = calls.ticket("CA1")
    clock.now_s += TICKET_S + 1
    with pytest.raises(ProtocolError, match="ticket"):
        calls.begin("CA1", old)
    ticket = calls.ticket("CA1")
    calls.begin("CA1", ticket)
    with pytest.raises(ProtocolError, match="ticket"):
        calls.begin("CA1", ticket)
    with pytest.raises(AccessDenied, match="has had its stream"):
        calls.ticket("CA1")


def test_a_call_goes_on_once() -> None:
    calls = TwilioCalls(Clock())
    assert calls.after("CA1") == ""
    calls.begin("CA1", calls.ticket("CA1"))
    assert calls.after("CA1") == ""
    calls.hand_over("CA1", "+15550100")
    assert [calls.after("CA1"), calls.after("CA1")] == ["+15550100", ""]


def test_old_calls_are_forgotten() -> None:
    calls = TwilioCalls(Clock())
    for number in range(MAX_CALLS + 10):
        calls.begin(f"CA{number}", calls.ticket(f"CA{number}"))
        calls.ticket(f"CB{number}")
        # Where no tickets are asked for, this is the first that is heard of a call.
        calls.hand_over(f"CC{number}", "+15550100")
    assert len(calls._tickets) == len(calls._begun) == MAX_CALLS


def test_twiml_leads_to_the_stream_and_is_escaped() -> None:
    twiml = stream_twiml("voice.example.com", {"agent": 'a"<b>&', "ticket": "t"})
    (connect,) = ElementTree.fromstring(twiml)
    assert (connect.tag, connect.attrib) == (
        "Connect",
        {"action": "https://voice.example.com/twilio/after"},
    )
    (stream,) = connect
    assert (stream.tag, stream.get("url")) == ("Stream", "wss://voice.example.com/twilio/stream")
    assert [(p.tag, p.get("name"), p.get("value")) for p in stream] == [
        ("Parameter", "agent", 'a"<b>&'),
        ("Parameter", "ticket", "t"),
    ]
