"""What codecs are made of, and the example in docs/adding-a-transport.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.telephony.codec import (
    AudioFormat,
    CallAudio,
    CallEnded,
    CallStarted,
    Encoding,
    KeyPressed,
    as_key,
    as_number,
    as_text,
    parameters,
)

SAMPLES = np.array([0, 1000, -1000, 32000, -32000], np.int16)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        (Encoding.L16_LITTLE, "0000e80318fc007d0083"),
        (Encoding.L16_BIG, "000003e8fc187d008300"),
    ],
)
def test_linear_samples_are_written_in_either_order(encoding: Encoding, data: str) -> None:
    form = AudioFormat(encoding, 16000)
    assert form.encode(SAMPLES).hex() == data
    assert form.decode(bytes.fromhex(data)).tolist() == SAMPLES.tolist()
    assert form.decode(bytes.fromhex(data)).dtype == np.int16


@pytest.mark.parametrize("encoding", [Encoding.MULAW, Encoding.ALAW])
def test_g711_comes_back_to_within_a_step(encoding: Encoding) -> None:
    form = AudioFormat(encoding)
    data = form.encode(SAMPLES)
    assert len(data) == len(SAMPLES)
    assert np.allclose(form.decode(data), SAMPLES, rtol=0.04, atol=8)


@pytest.mark.parametrize("rate_hz", [0, 7999, 10**9])
def test_rates_that_no_telephone_has_are_refused(rate_hz: int) -> None:
    with pytest.raises(ProtocolError, match="sample rate"):
        AudioFormat(Encoding.MULAW, rate_hz)


@pytest.mark.parametrize(
    "value",
    [None, True, -1, "-1", "8e3", 8000.5, "1" * 19, 10**20, [], {}, "٣", "\ud800"],
)
def test_what_is_no_number_is_refused(value: object) -> None:
    assert as_number("8000", "rate") == as_number(8000, "rate") == 8000
    # The last is a number that Python refuses to spell.
    for given in (value, 10**5000):
        with pytest.raises(ProtocolError, match="rate"):
            as_number(given, "rate")


def test_text_has_a_limit() -> None:
    assert as_text("x" * 1024, "name") == "x" * 1024
    with pytest.raises(ProtocolError, match="1025 characters"):
        as_text("x" * 1025, "name")


def test_a_key_is_one_character() -> None:
    keys = ("1", 1, "#", "*", "a", " 2 ", "!", "w", " ", "ß", "\0")
    told = ["1", "1", "#", "*", "A", "2", "!", "W", " ", "ß", "\0"]
    assert [as_key(key, "digit") for key in keys] == told
    for value in ("", "12", "  ", None, [], {}):
        with pytest.raises(ProtocolError, match="digit"):
            as_key(value, "digit")


def test_parameters_are_plain_and_few() -> None:
    assert parameters({"agent": "coffee", "n": 3, "deep": {"a": 1}, "no": None, "b": True}) == {
        "agent": "coffee",
        "n": "3",
    }
    assert parameters(None) == {}
    assert parameters("agent=coffee") == {}
    with pytest.raises(ProtocolError, match="65 parameters"):
        parameters({str(number): "" for number in range(65)})


@pytest.fixture(scope="module")
def acme(repo_root: Path) -> Any:
    text = (repo_root / "docs" / "adding-a-transport.md").read_text(encoding="utf-8")
    source = next(code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    names: dict[str, Any] = {}
    exec(compile(source, "acme.py", "exec"), names)
    return names["Acme"]({})


def test_the_example_works(acme: Any) -> None:
    with pytest.raises(ProtocolError):
        acme.receive(b"\xd5")
    assert acme.receive("CALL c1 coffee") == [CallStarted("c1", {"agent": "coffee"})]
    (audio,) = acme.receive(b"\xd5" * 160)
    assert isinstance(audio, CallAudio)
    assert acme.receive("KEY 5") == [KeyPressed("5")]
    with pytest.raises(ProtocolError):
        acme.receive("KEY")
    assert acme.receive("BYE") == [CallEnded()]
    assert acme.audio(np.zeros(2, np.int16)) == [b"\xd5\xd5"]
    assert acme.send_digits("12") == ["KEY 1", "KEY 2"]
    assert acme.hang_up() == ["BYE"]
