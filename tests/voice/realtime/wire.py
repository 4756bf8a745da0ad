"""The protocol over a fake session."""

import base64
import json
from typing import Any

from tests.support.fakes import FakeSession, counting_ids
from voice.events import (
    ReplyEnded,
    ReplyStarted,
    ReplyStatus,
    ReplyText,
)
from voice.realtime.protocol import LocalNames, RealtimeProtocol

NAMES = LocalNames("quicksilver", "espeak")
TYPED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
AUDIO = base64.b64encode(bytes(960)).decode()


class Wire:
    """A protocol over a fake session, fed with dicts."""

    def __init__(self) -> None:
        self.session = FakeSession()
        self.protocol = RealtimeProtocol(self.session, NAMES, counting_ids())  # type: ignore[arg-type]

    def send(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        return self.protocol.receive(json.dumps({"type": kind, **fields}))

    def error(self, kind: str, **fields: Any) -> dict[str, Any]:
        answer = self.send(kind, **fields)
        assert [event["type"] for event in answer] == ["error"], answer
        error: dict[str, Any] = answer[0]["error"]
        return error

    def reply(self, text: str = "Hi.") -> None:
        self.protocol.translate(ReplyStarted("r1", "i2", 1, None))
        self.protocol.translate(ReplyText("r1", text))
        self.protocol.translate(ReplyEnded("r1", ReplyStatus.COMPLETED, "", text, 1, 1))
