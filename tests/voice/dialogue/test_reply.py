from __future__ import annotations

import pytest

from voice.dialogue.reply import Phase, Reply
from voice.inputs import SessionOptions


def _reply() -> Reply:
    return Reply("r1", "i1", 3, SessionOptions())


def test_segments_joined_are_the_text() -> None:
    reply = _reply()
    pieces = reply.push(" It is late. I will go home now.") + reply.flush()
    segments = [reply.segment(piece) for piece in pieces]
    assert "".join(segment.text for segment in segments) == reply.text
    assert reply.text == "It is late. I will go home now."
    assert [segment.index for segment in segments] == list(range(len(segments)))
    assert all(segment.turn_id == 3 for segment in segments)


def test_a_segment_carries_what_the_voice_is_to_read() -> None:
    assert _reply().segment("It costs $5.").spoken == "It costs five dollars."


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
