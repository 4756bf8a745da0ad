"""What flows of strangers' agents note, correct and leave alone, on virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.virtual_parts import calling
from tests.support.virtual_time import virtual
from tests.voice.session.test_flow import stands, typed, written

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
        # A spelled word takes the place of the one that it is like, in a name of several.
        (
            3,
            "the surname is spelled A D D L E R",
            READ_BACK.format("Ruth Addler", "1 2 3", TOLD[2]),
        ),
        (3, "no, the name is spelled A D L E R", "Thank you. Shall I?"),
        (3, "it has to be Friday", "I see. " + READ_BACK.format("Ruth Adler", "1 2 3", TOLD[2])),
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


DESK = """
name = "desk"
instructions = "Give out rooms and cards."
greeting = "The desk. A room or a card?"
cannot_say = "I do not know that."
[steps.start]
needs.what = { kind = "choice", of.room = ['a room'], of.card = ['a card'], ask = "What?" }
branches = [{ value = "what", equals = "card", goes_to = "card" }]
goes_to = "room"
[steps.room]
needs.at = { kind = "clock time", says = "Noted.", ask = "When?" }
needs.name = { kind = "person", ask = "What name?" }
[steps.card]
needs.number = { kind = "phone number", says = "Noted.", ask = "What number?" }
needs.colour = { kind = "choice", of.ten = ['ten'], of.red = ['red'], ask = "What colour?" }
"""


@pytest.mark.parametrize(
    ("messages", "known"),
    [
        (
            ["a card, 020 7946 0123, at ten"],
            {"what": "card", "number": "0 2 0 7 9 4 6 0 1 2 3", "colour": "ten"},
        ),
        (["a room", "no, a card, in red"], {"what": "card", "colour": "red"}),
        (["a card", "no, a room at eleven"], {"what": "room", "at": "11:00 AM"}),
    ],
)
@virtual
async def test_only_values_of_the_branch_that_a_message_chooses_are_read(
    messages: list[str], known: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with calling(written(tmp_path, monkeypatch, desk=DESK, tools=RINGING)) as line:
        for words in messages:
            await typed(line, words)
        assert stands(line)[2] == known


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


FINDING = """
name = "tables"
instructions = "Book tables."
greeting = "What time?"
[kept]
things = ["table"]
change = "change_table"
none = "find"
[steps.book]
needs.time = { kind = "clock time", ask = "What time?" }
goes_to = "done"
[steps.find]
needs.whose = { kind = "person", ask = "Whose?" }
goes_to = "found"
[steps.found]
says = "Found."
[steps.done]
"""
CHANGING = """
from typing import Annotated

from voice.tools import SessionScope, ToolError, tool
from voice.tools.kinds import KINDS

@tool()
def change_table(time: Annotated[str, KINDS["clock time"]] = "", *, scope: SessionScope) -> str:
    "Change a table."
    if "whose" not in scope.known:
        raise ToolError("None is here.")
    return f"Changed to {time}."
"""


@virtual
async def test_values_change_a_thing_that_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with calling(written(tmp_path, monkeypatch, tables=FINDING, tools=CHANGING)) as line:
        assert await typed(line, "I want to change my table") == "None is here. Whose?"
        assert await typed(line, "Ann Lee") == "Thank you. Found."
        assert "Changed" not in await typed(line, "thanks, half an hour ago I was at the dentist")
        assert (await typed(line, "half past seven")).startswith("Changed to half past seven.")
