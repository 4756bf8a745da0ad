import inspect

import pytest

from voice.telephony.audiosocket import AudioSocket
from voice.telephony.codec import CallCodec, Traits
from voice.telephony.registry import PROTOCOLS


@pytest.mark.parametrize("name", [*PROTOCOLS, "audiosocket"])
def test_every_protocol_has_every_command(name: str) -> None:
    codec = AudioSocket() if name == "audiosocket" else PROTOCOLS[name].codec({})
    for command, wanted in inspect.getmembers(CallCodec, inspect.isfunction):
        if not command.startswith("_"):
            given = inspect.signature(getattr(codec, command))
            assert list(given.parameters) == list(inspect.signature(wanted).parameters)[1:], command
    assert isinstance(codec.traits, Traits)
    assert codec.traits.frame_ms % 20 == 0


def test_a_line_that_takes_nothing_back_is_sent_little() -> None:
    assert AudioSocket().traits.ahead_ms < Traits().ahead_ms
