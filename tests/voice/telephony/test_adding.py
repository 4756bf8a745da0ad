"""The example in docs/adding-a-transport.md is a codec like any other."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voice.errors import ProtocolError
from voice.telephony.codec import CallAudio, CallEnded, CallStarted, KeyPressed


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
