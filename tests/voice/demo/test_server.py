import pytest

from voice.demo.server import serving
from voice.errors import VoiceError


async def test_a_server_that_cannot_start_is_an_error(capfd):
    with pytest.raises(VoiceError, match="ended with status 1 before it answered"):
        async with serving(["--set", "asr.engin=sphinx"]):
            pytest.fail("it does not get here")
    assert "did you mean 'engine'" in capfd.readouterr().err
