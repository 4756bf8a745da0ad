from __future__ import annotations

import pytest

from voice.dialogue.reply import Phase, Reply
from voice.inputs import SessionOptions


def _reply() -> Reply:
    return Reply("r1", "i1", 3, SessionOptions())


def test_dropping_the_rest_forgets_unfinished_text_only() -> None:
    reply = _reply()
    for piece in reply.push("All is well here. But then"):
        reply.segment(piece)
    reply.drop_rest()
    assert reply.flush() == []
    assert reply.text == "All is well here."


def test_a_reply_that_is_complete_is_not_asked_for_again() -> None:
    reply = _reply()
    for phase in (Phase.ASKED, Phase.TOOLS, Phase.ASKED, Phase.HANDING_OVER, Phase.COMPLETE):
        reply.enter(phase)
    with pytest.raises(ValueError, match="got asked behind complete"):
        reply.ask_again()
