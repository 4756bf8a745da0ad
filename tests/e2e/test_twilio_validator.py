"""Twilio's own RequestValidator, in its own environment, signs our upgrade and our webhook."""

import json
import subprocess
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.clients.environments import python_with
from tests.support.fakes import FakeParts, fake_app
from tests.support.serving import serving
from tests.voice.telephony.test_media_stream import TWILIO_START
from tests.voice.telephony.test_telephone import says_goodbye
from voice.config import Config, ServerConfig, TelephonyConfig

pytestmark = pytest.mark.e2e

REQUIREMENT = "twilio"
TOKEN, SHARED, PUBLIC = "auth-token", "shared-secret", "voice.example.com"
FORM = {"CallSid": f"CA{5:032x}", "To": "+1 800", "From": "+1555", "Digits": ""}
SIGN = """
import json, sys
from twilio.request_validator import RequestValidator
token, url, form, algorithm = json.loads(sys.argv[1])
print(RequestValidator(token).compute_signature(url, form, algorithm))
"""


@pytest.fixture(scope="module")
def twilio_python() -> Path:
    """The interpreter of an environment that holds the twilio package alone; made once and kept."""
    return python_with("twilio", REQUIREMENT)


def signature(python: Path, token: str, url: str, form: dict[str, str], algorithm: str) -> str:
    told = json.dumps([token, url, form, algorithm])
    ran = subprocess.run([python, "-c", SIGN, told], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("token", "algorithm", "settings"),
    [(TOKEN, "HMAC_SHA1", ""), (SHARED, "HMAC_SHA256", "key=webhooks_1,algorithm=HMAC_SHA256")],
)
async def test_the_validator_signs_the_webhook_and_the_upgrade(
    twilio_python: Path,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    algorithm: str,
    settings: str,
) -> None:
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", TOKEN)
    monkeypatch.setenv("TWILIO_SHARED_KEY_SECRET", SHARED)
    config = Config(
        agent="coffee",
        server=ServerConfig(port=0),
        telephony=TelephonyConfig(
            doors=("twilio",), public_url=f"https://{PUBLIC}", require_ticket=False
        ),
    )
    headers = {"X-Twilio-Webhooks-Signature-Settings": settings} if settings else {}
    voice = signature(twilio_python, token, f"https://{PUBLIC}/twilio/voice", FORM, algorithm)
    stream = signature(twilio_python, token, f"wss://{PUBLIC}/twilio/stream", {}, algorithm)
    parts = FakeParts(prepare=says_goodbye)
    async with serving(fake_app(parts, config), config.server) as address:
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            for signed, status in ((voice, 200), (voice[:-2] + "A=", 403)):
                answer = await http.post(
                    "/twilio/voice",
                    content=urlencode(FORM),
                    headers={**headers, **kind, "X-Twilio-Signature": signed},
                )
                assert answer.status_code == status
        url = f"ws://{address}/twilio/stream"
        with pytest.raises(InvalidStatus):
            async with connect(url, additional_headers={**headers, "X-Twilio-Signature": voice}):
                pass
        async with connect(
            url, additional_headers={**headers, "X-Twilio-Signature": stream}
        ) as socket:
            await socket.send(TWILIO_START)
            assert json.loads(await socket.recv())["event"] == "media"
    assert len(parts.sessions) == 1
