"""What callers of the clinic say, typed: real sessions, flow and tools, and a store in memory."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

import pytest

from tests.support.virtual_parts import Call, Model, call, calling
from tests.support.virtual_time import virtual
from tests.voice.session.test_flow import ANNA, calls, clinic, stands, typed
from voice.callers import Owner
from voice.llm.base import Prompt
from voice.tools.store import Store
from voice.types import ToolCall

HELP = "I can't help with that, sorry. A nurse can: just ask for one."


async def holds(line: Call, *turns: tuple[str, str]) -> None:
    """Hold a conversation of messages and patterns of the whole replies."""
    for said, expected in turns:
        reply = await typed(line, said)
        assert re.fullmatch(expected, reply), f"{said!r}: {reply!r}"


BREATH = (
    "Good morning, this is Lena Vogt, I was born on the second of May 1971. You can reach me on"
    " 01632 960 555. My shoulder has been stiff since Monday and I'd like a lady doctor, could I"
    " come on Wednesday morning?"
)


@virtual
async def test_what_is_said_in_one_breath_goes_each_into_its_own_value() -> None:
    async with calling(clinic(), ANNA) as line:
        reply = await typed(line, BREATH)
        assert re.search(r"Free Wednesday, .* in the morning: 9:00 AM, .*Is 9:00 AM", reply)
        known = stands(line)[2]
        assert {n: known[n] for n in ("name", "born", "number", "doctor", "problem")} == {
            "name": "Lena Vogt",
            "born": "May 2, 1971",
            "number": "0 1 6 3 2 9 6 0 5 5 5",
            "doctor": "a woman doctor",
            "problem": "My shoulder has been stiff since Monday",
        }
        await holds(
            line,
            (
                "let's say ten",
                r"I have Lena Vogt, born May 2, 1971, on Wednesday, .* 10:00 AM, for: My shoulder"
                r" has been stiff since Monday, if possible with a woman doctor. Shall I book it\?",
            ),
        )


@pytest.mark.parametrize(
    "said", ["I'd like to book an appointment", "hello, can I make an appointment please"]
)
@virtual
async def test_the_mere_wish_for_what_is_made_here_is_understood(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(line, (said, r"(?:In a few words, w|W)hat is the (?:matter|appointment for)\?"))


@virtual
async def test_several_values_answer_the_question_for_one() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven"):
            await typed(line, words)
        reply = await typed(line, "Ruth Adler, 01632 960001, 9/3/1950")
        assert "I have Ruth Adler, born March 9, 1950, on Friday" in reply
        assert stands(line)[2]["number"] == "0 1 6 3 2 9 6 0 0 0 1"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("it's Adler, Ruth Adler", "Ruth Adler"), ("that would be ruth adler", "Ruth Adler"),
        ("A D L E R", "Adler"), ("Ruth Adler speaking", "Ruth Adler"),
    ],
)  # fmt: skip
@virtual
async def test_a_name_is_understood_as_people_give_it(said: str, name: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven", said):
            await typed(line, words)
        assert stands(line)[2]["name"] == name


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("some time next week, preferably in the afternoon",
         r"Free Monday, .* in the afternoon: 12:00 PM, .*Is 12:00 PM all right\?"),
        ("whatever is soonest", r"The next free time is .* Is \d+:\d\d [AP]M all right\?"),
        ("as soon as possible please", r"The next free time is .* Is .* all right\?"),
        ("what have you got on tuesday", r"The next free time is Tuesday, .* Is .* all right\?"),
        ("tuesday after three", r"Free Tuesday, .* after 3:00 PM: 3:00 PM, .*Is 3:00 PM .*"),
        ("tuesday", r"Tuesday, \w+ \d+\. At what time\?"),
    ],
)  # fmt: skip
@virtual
async def test_a_vague_answer_is_offered_what_is_free(said: str, expected: str) -> None:
    async with calling(clinic(), ANNA) as line:
        await typed(line, "a vaccination")
        await holds(line, (said, expected))


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("yes that works", "3:00 PM"), ("half past three sounds nice", "3:30 PM"),
        ("four would suit us", "4:00 PM"), ("the second one", "3:30 PM"),
        ("half an hour later please", "3:30 PM"),
    ],
)  # fmt: skip
@virtual
async def test_an_offer_is_taken_or_another_time_near_it(said: str, time: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "tuesday after three", "is there parking"):
            await typed(line, words)
        await holds(line, (said, rf"Tuesday, .* at {time}\. What is the patient's name\?"))


@virtual
async def test_an_offer_that_is_refused_is_no_more() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "tuesday after three"):
            await typed(line, words)
        await holds(line, ("no", r"Okay\. At what time\?"), ("yes", r"What time shall it be.*"))


@virtual
async def test_behind_a_booking_it_is_moved_repeated_and_another_one_made() -> None:
    loaded = clinic()
    async with calling(loaded, ANNA) as line:
        for words in ("a vaccination", "friday at eleven", "Ruth Adler", "yes"):
            await typed(line, words)
        await holds(
            line,
            ("no, you could buy", r"All right\. Goodbye\."),
            ("could you push it back half an hour", r"Moved to Friday, .* at 11:30 AM\..*"),
            ("which day was it", r"You have 1 appointment: Friday, .* at 11:30 AM\."),
            (
                "my brother wants one too",
                r"Another one: Friday, .* at 12:00 PM is the next\. .*name\?",
            ),
            ("Tom Adler", r"I have Tom Adler on Friday, .* 12:00 PM, for: a vaccination\. .*"),
            ("yes", r"Booked: Friday, .* at 12:00 PM\..*"),
        )
        store = Store(loaded.toolbox.database, Owner("clinic", ANNA))
        assert [name for _, name, _ in store.appointments(0)] == ["Ruth Adler", "Tom Adler"]


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("it's all swollen round my knee", r"I see\. What day would suit you\?"),
        ("that's all for today, you're a star", r"(?!I see).*"),
        ("have a nice evening", r"(?!I see).*"),
    ],
)
@virtual
async def test_behind_the_end_a_complaint_is_none_of_the_courtesies(said: str, reply: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven", "Ruth Adler", "yes"):
            await typed(line, words)
        await holds(line, (said, reply))


@virtual
async def test_another_one_has_to_wait_until_this_one_is_booked() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven"):
            await typed(line, words)
        await holds(line, ("my brother wants one too", r"First this one, .* the patient's name\?"))


@virtual
async def test_of_several_appointments_the_one_that_is_named_is_moved_or_cancelled() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "wednesday at eleven", "Ruth Adler", "yes"):
            await typed(line, words)
        for words in (
            "I need another appointment",
            "my knee",
            "friday at ten",
            "Ruth Adler",
            "yes",
        ):
            await typed(line, words)
        await holds(
            line,
            (
                "move my appointment on wednesday",
                r"Your appointment is on Wednesday, .* When would you like to come instead\?",
            ),
            ("thursday", r"Moved to Thursday, .* at 11:00 AM\. .*"),
            (
                "can you cancel the one on thursday please",
                r"Shall I cancel your appointment on Thursday, .* at 11:00 AM\?",
            ),
            ("yes", r"Cancelled: Thursday, .* at 11:00 AM\. ?.*"),
            ("what appointments do I have", r"You have 1 appointment: Friday, .* at 10:00 AM\..*"),
        )


@pytest.mark.parametrize(
    "said",
    [
        "I never have time on Mondays, Mondays we have choir, and not Tuesdays or Thursdays",
        "any day except Monday, and I can't do Tuesdays. Thursdays are bad as well",
        "Monday doesn't work, Tuesdays I work and not on Thursday mornings",
    ],
)
@virtual
async def test_a_day_that_is_ruled_out_is_never_offered(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        await typed(line, "my hearing aid whistles")
        for words in (
            said,
            "no, not at nine",
            "something earlier",
            "next week",
            "what have you got",
        ):
            reply = await typed(line, words)
            assert re.search(r"(Wednes|Fri)day, .*Is .* all right", reply), reply
        assert " 9:00" not in reply
        await holds(line, ("well, Tuesday next week then, at two", r"Tuesday, .* 2:00 PM\. .*"))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("maybe next week, thursday or friday, afternoons suit me",
         r"Free Thursday, .* in the afternoon: 12:00 PM, .*"),
        ("monday or wednesday next week please, not before two", r"Free Monday, .*: 2:00 PM, .*"),
        ("anything but mornings, next week", r"Free Monday, .* after 12:00 PM: 12:00 PM, .*"),
        ("next week but not in the afternoon", r"Free Monday, .* in the morning: 9:00 AM, .*"),
    ],
)  # fmt: skip
@virtual
async def test_days_and_parts_that_are_named_narrow_what_is_offered(
    said: str, expected: str
) -> None:
    async with calling(clinic(), ANNA) as line:
        await typed(line, "a vaccination")
        await holds(
            line,
            (said, expected),
            ("say the times again please", r"Free \w+, \w+ \d+: .* Is .* all right\?"),
            ("I'll take that one", r"\w+, .* at \d+:00 [AP]M\. What is the patient's name\?"),
        )


@virtual
async def test_not_this_one_but_the_one_after_is_a_week_later() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "next wednesday first thing"):
            first = re.findall(r"Wednesday, (\w+ \d+)", await typed(line, words))
        reply = await typed(line, "not that Wednesday, the week after")
        days = [
            datetime.strptime(f"2024 {d}", "%Y %B %d") for d in (*first, reply[15:].split(":")[0])
        ]
        assert (days[1] - days[0]).days % 366 == 7, reply


@virtual
async def test_who_calls_is_asked_before_no_appointment_is_found() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("hi, I won't be able to come on Friday", r"I see no .* Under which name is it\?"),
            (
                "Ruth Adler",
                r"I find no appointment under Ruth Adler\. Under which other name .* nurse .*",
            ),
            ("maybe it's under Kent. Ruth Kent", r"I find no appointment under Ruth Kent\. .*"),
            ("a vaccination, monday at ten", r"I see\. Monday, .* What is the patient's name\?"),
        )


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ((), "i'd like to cancel please"), ((), "need to cancel my appt for thursday"),
        ((), "I want to call off thursday"), (("my knee",), "No. CANCEL. I have one on monday"),
        (("my knee", "monday"), "i dont want to book, cancel my visit"),
    ],
)  # fmt: skip
@virtual
async def test_who_cancels_is_asked_for_names_and_books_nothing(
    before: tuple[str, ...], said: str
) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in before:
            await typed(line, words)
        await holds(
            line,
            (said, r"I see no appointment yet\. Under which name is it\?"),
            ("Ruth Adler", r"I find no appointment under Ruth Adler\. Under which other .*"),
            ("no, I don't have another name", r"Okay\. Is there anything else\?"),
        )


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Hello, this is Ruth Adler, I can't make it on Friday", "Ruth Adler"),
        ("my name is tom kent and I'd like to move my appointment", "Tom Kent"),
        ("Eva Stone here, when is my visit?", "Eva Stone"),
        ("this is about my appointment, I can't make it", ""),
        ("hello there, I can't come on Monday", ""),
    ],
)
@virtual
async def test_a_name_that_is_said_with_a_wish_is_looked_for(said: str, name: str) -> None:
    found = (
        rf"I find no appointment under {name}\. Under which other name .*"
        if name
        else r"Under which name is it\?"
    )
    async with calling(clinic(), ANNA) as line:
        await holds(line, (said, rf"I see no appointment yet\. {found}"))


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("no? then give me a new one, monday before ten", r"Okay\. Free Monday, .*the matter\?"),
        ("no, I'd like to make another one for tuesday", r"Okay\. Tuesday, .*the matter\?"),
        ("no, mornings don't work for us. afternoon?", r".* Under which other name .*"),
        ("no, is that bad?", r".* Under which other name .*"),
        ("no, thank you very much", r"Okay\. Is there anything else\?"),
        ("no it's under nothing else", r"Okay\. Is there anything else\?"),
    ],
)
@virtual
async def test_a_no_ends_nothing_that_something_is_wanted_of(said: str, reply: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("I need to cancel", "Ruth Adler"):
            await typed(line, words)
        await holds(line, (said, reply))


@virtual
async def test_the_latest_time_of_a_day_is_offered() -> None:
    async with calling(clinic(), ANNA) as line:
        last = r"The last free time is Thursday, .* at 4:30 PM\. Is 4:30 PM all right\?"
        await holds(
            line,
            ("a vaccination", r"I see\. .*"),
            ("thursday after five", r"Nothing is free then\..*"),
            ("no that's too early, what's the latest you have?", last),
            ("that's too late", r".* Is 4:00 PM all right\?"),
            ("whichever is free", r"Thursday, .* at 4:00 PM\. .*name\?"),
            ("Ruth Adler. A D L E R", r"I have Ruth Adler on .* 4:00 PM, .*"),
            ("no, thursday as late as possible", last),
            ("that'll do", r"I have Ruth Adler on Thursday, .* 4:30 PM, .*"),
            ("sorry which time did you have for me", r"That is Thursday, .* 4:30 PM\. Shall .*"),
            ("no, thursday at ten at the latest", r".* 10:00 AM.*"),
        )


@virtual
async def test_a_number_that_counts_something_is_no_time() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("my knee", r"I see\. What day would suit you\?"),
            ("oh, about three weeks I'd say, ever since it rained", r"I see\. Which day .*"),
            ("I told you before, tuesday at half past three", r"Tuesday, .* 3:30 PM\. .*name\?"),
        )


@virtual
async def test_a_name_that_is_spelled_later_is_the_fuller_one() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven", "Ruth"):
            await typed(line, words)
        await holds(line, ("Ruth Kovalchik, k o w a l c z y k", r"I have Ruth Kowalczyk on .*"))


@virtual
async def test_new_in_town_is_no_matter() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("Do you take new patients? We just moved here.", r"Yes, new .* appointment for\?"),
            ("we are new to the area", r"I see\. .*"),
            ("a check-up, we just moved here", r"I see\. What day would suit you\?"),
        )
        assert stands(line)[2]["problem"] == "a check-up"


@pytest.mark.parametrize(
    "said",
    ["I don't want to book anything", "cancel that", "no i dont need an appointment",
     "no thanks, leave it", "forget the appointment"],
)  # fmt: skip
@virtual
async def test_a_booking_is_left_without_another_question(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "monday"):
            await typed(line, words)
        await holds(
            line,
            (said, r"All right\. If there is something else that I can do, tell me\."),
            ("okay", r"Okay\."),
            ("friday at two. Ruth Adler", r"Thank you\. Friday, .* What is the matter\?"),
            ("my knee", r"I have Ruth Adler on Friday, .* for: my knee\. .*"),
        )


@virtual
async def test_a_refusal_of_something_else_cancels_no_appointment() -> None:
    async with calling(clinic(), ANNA) as line:
        said = "no I don't want that can I have an appointment on friday at two"
        await holds(line, (said, r"(?:Thank you\. )?Friday, .* What is the matter\?"))


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("noon is too early, got anything later? like two or three", "2:00 PM"),
        ("no, not 12", "12:30 PM"), ("12 doesn't work", "12:30 PM"),
        ("that's too early for me. make it 4", "4:00 PM"), ("too early", "12:30 PM"),
    ],
)  # fmt: skip
@virtual
async def test_a_time_that_is_refused_is_not_offered_again(said: str, time: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination, Ruth Adler here", "tuesday afternoon"):
            reply = await typed(line, words)
        assert "Is 12:00 PM all right?" in reply
        reply = await typed(line, said)
        assert f"at {time}, for" in reply or f"Is {time} all right?" in reply
        assert "12:00" not in reply


@virtual
async def test_a_yes_to_what_was_not_asked_books_nothing() -> None:
    def ends(prompt: Prompt) -> str | tuple[ToolCall, ...]:
        offered = "end_conversation" in {tool.name for tool in prompt.tools}
        return (call("end_conversation"),) if offered else "I see."

    async with calling(replace(clinic(), model=Model(ends)), ANNA) as line:
        for words in ("a vaccination", "friday at eleven", "yes", "yes"):
            await typed(line, words)
        await holds(line, ("that's it", r"Okay\. .* the name .*"))
        assert "book_appointment" not in calls(line)
        assert stands(line)[1] == "booking"
