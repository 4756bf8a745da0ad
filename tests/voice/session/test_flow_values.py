"""What flows of strangers' agents note, correct and leave alone, on virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.virtual_parts import calling
from tests.support.virtual_time import virtual
from tests.voice.session.test_flow import typed, written

LINE = """
name = "line"
instructions = "Arrange calls."
greeting = "The line. What name?"
cannot_say = "I do not know that."
[steps.who]
needs.name = { kind = "person", ask = ["What name?", "The name, please?"] }
needs.number = { kind = "phone number", ask = ["What number?", "The number, please?"] }
needs.about = { kind = "words", ask = "What is it about?" }
goes_to = "confirm"
[steps.confirm]
tools = ["ring"]
needs.rung = { tool = "ring", ask = ["{name}, {number}, {about}?", "Shall I?"] }
goes_to = "done"
[steps.done]
"""
RINGING = """
from voice.tools import tool

@tool()
def ring() -> str:
    "Ring somebody."
    return "Rung."
"""
TOLD = ("Ruth Adler", "020 7946 0123", "a loose tooth")
READ_BACK = "{}, 0 2 0 7 9 4 6 0 {}, {}?"


@pytest.mark.parametrize(
    ("known", "said", "reply"),
    [
        # A request, or a greeting, is no name and no question.
        (0, "can you fetch Rex on Friday", "I do not know that. The name, please?"),
        (0, "I want to move Rex to Friday", "Sorry, I did not get that. The name, please?"),
        (0, "put me down as Ruth Adler", "Thank you. What number?"),
        (1, "hello?", "The number, please?"),
        (1, "hello, is anybody there?", "The number, please?"),
        (1, "is it far?", "I do not know that. The number, please?"),
        # What is noted is corrected while something else is asked.
        (2, "no, the last two digits are two four", "Thank you. What is it about?"),
        (2, "sorry, it's Ruth Kent", "Thank you. What is it about?"),
        (
            2,
            "it ends in nine, one two nine, and it's about a loose tooth",
            READ_BACK.format("Ruth Adler", "1 2 9", "a loose tooth"),
        ),
        (
            2,
            "no story that ends in tears",
            READ_BACK.format("Ruth Adler", "1 2 3", "story that ends in tears"),
        ),
        # A read-back is answered by corrections, and comes again with them.
        (3, "about a broken crown", READ_BACK.format("Ruth Adler", "1 2 3", "a broken crown")),
        (3, "no, about his gums", READ_BACK.format("Ruth Adler", "1 2 3", "his gums")),
        (3, "no, it ends in double five", READ_BACK.format("Ruth Adler", "1 5 5", "a loose tooth")),
        (
            3,
            "green cheese",
            "Sorry, I did not get that. "
            + READ_BACK.format("Ruth Adler", "1 2 3", "a loose tooth"),
        ),
    ],
)
@virtual
async def test_what_is_noted_is_corrected_and_a_request_is_none_of_it(
    known: int, said: str, reply: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with calling(written(tmp_path, monkeypatch, line=LINE, tools=RINGING)) as line:
        for words in TOLD[:known]:
            await typed(line, words)
        assert await typed(line, said) == reply


REPAIRS = """
name = "repairs"
instructions = "Take reports."
greeting = "Since when?"
cannot_say = "I do not know that."
[asides.hours]
asked = ['are you open']
say = "Nine to five."
[moments.sparks]
say = "Keep away."
stays = "Keep away and tell me."
ends = "Good."
patterns = ['sparks']
over = ['stopped']
examples = ["there are sparks"]
counterexamples = ["the socket is dead"]
[kept]
things = ["visit"]
end = "cancel_visit"
[steps.report]
needs.since = { kind = "choice", of.days = ['two days ago'], says = "Okay.", ask = "Since when?" }
needs.day = { kind = "day", says = "Okay.", ask = "Which day?" }
"""
CANCELLING = """
from voice.tools import Asked, ToolError, tool

def check(given, message):
    raise ToolError("There is no visit.")

@tool(undoes=True, refuses=check, asked=Asked(lambda said: "Shall I?", lambda message: False))
def cancel_visit() -> str:
    "Cancel the visit."
    return "Cancelled."
"""


@pytest.mark.parametrize(
    ("messages", "reply"),
    [
        (["are you open on Saturdays?"], "Nine to five. Since when?"),
        (["what's the weather like tomorrow"], "I do not know that. Since when?"),
        (["I'd like to cancel my visit"], "There is no visit. Since when?"),
        (["there are sparks", "they stopped", "two days ago"], "Okay. Which day?"),
    ],
)
@virtual
async def test_a_step_goes_on_beside_questions_refusals_and_moments(
    messages: list[str], reply: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with calling(written(tmp_path, monkeypatch, repairs=REPAIRS, tools=CANCELLING)) as line:
        for words in messages:
            told = await typed(line, words)
        assert told == reply
