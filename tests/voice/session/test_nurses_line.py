"""Emergencies at the clinic's front desk, and what it hands over to the nurse's line."""

from __future__ import annotations

import pytest

from tests.support.virtual_parts import calling
from tests.support.virtual_time import virtual
from tests.voice.session.test_flow import ANNA, clinic, stands, typed
from tests.voice.session.test_front_desk import HELP, holds

URGENT = "Please do not wait"


@pytest.mark.parametrize(
    "said",
    ["I need my inhaler on repeat prescription", "have my blood results come back", "a sick note"],
)
@virtual
async def test_what_the_front_desk_cannot_do_goes_to_the_nurse(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        assert "This is the nurse's line." in await typed(line, said)
        assert "The nurse who calls you back" in await typed(line, "so who does that")


@pytest.mark.parametrize(
    "said",
    ["are you open on Friday and can I speak to a nurse", "I need a sick note, when are you open"],
)
@virtual
async def test_what_is_asked_beside_a_hand_over_is_answered_first(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        number = "my number is oh oh four four seven seven oh oh nine oh oh one two three"
        await holds(
            line,
            (said, r"We are open .* I will put you through .* This is the nurse's line\..*"),
            (number, r"Shall a nurse call 0 0 4 4 7 7 0 0 9 0 0 1 2 3\?"),
        )


@virtual
async def test_a_hand_over_and_back_keeps_what_is_known() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            (
                "my baby has a fever, please put me through to a nurse, it's 01632 960777",
                r"I see\. .* This is the nurse's line\. .* back\. Shall a nurse call 0 1 6 3 .*\?",
            ),
            ("no, I want to see the doctor on monday at ten", r".*front desk\. Monday, .*name\?"),
            ("Ruth Adler", r".*at 10:00 AM, for: my baby has a fever.*"),
        )


@virtual
async def test_an_emergency_stays_one_until_the_caller_says_otherwise() -> None:
    async with calling(clinic(), ANNA) as line:
        assert "call 911 now" in await typed(line, "my wife can't breathe")
        for words in ("she is seventy and it's getting worse", "can you see her today", "at ten?"):
            assert (await typed(line, words)).startswith(URGENT)
        await holds(
            line,
            ("the ambulance is on its way", r"Good\. If there is something else.*"),
            ("I need a check-up", r"I see\. What day would suit you\?"),
        )


@virtual
async def test_behind_an_emergency_a_remark_is_no_matter() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("my dad can't breathe", "they are on their way"):
            reply = await typed(line, words)
        await holds(
            line,
            ("the ambulance is here. thank you", r"You're welcome\."),
            ("he is sitting up again", r"I see\."),
            ("he needs a follow up with the doctor", r"I see\. What day would suit you\?"),
            ("thursday. Robert Kessler", r"Thank you\. Thursday, .* At what time\?"),
            ("friday, early as possible", r"The next free time is Friday, .* 9:00 AM all right\?"),
            ("yes. Robert Kessler", r"I have Robert Kessler on Friday, .*"),
            ("haha no. the reason is a sore hip", r".* 9:00 AM, for: a sore hip\. Shall I .*"),
        )
        assert reply.startswith("Good.")


@virtual
async def test_a_question_ends_no_emergency_and_behind_it_nobody_asks_for_a_day() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a check-up", "my husband can't breathe"):
            await typed(line, words)
        for words in (
            "Are they coming?",
            "when will they be here",
            "okay, what now",
            "is he going to be okay",
        ):
            assert (await typed(line, words)).startswith(URGENT)
        await holds(
            line,
            ("an ambulance is coming, how long does it take?", r"Good\. .*"),
            ("ought I to sit him up?", HELP),
            ("may he drink something", HELP),
            ("thanks", r"You're welcome\."),
            ("tuesday", r"Tuesday, .* At what time\?"),
        )


@virtual
async def test_a_child_with_a_high_fever_is_put_through_to_the_nurse() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("our boy is two and his temperature is 40.1", r"A nurse should hear .* nurse\?"),
            ("yes please do", r".*the nurse's line\. .*"),
        )


@virtual
async def test_a_limb_that_may_be_broken_is_sent_to_the_emergency_room() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("he fell off the swing and his wrist looks crooked", r".*emergency room.* nurse\?"),
            ("he's 8", r"I see\. .*"),
            ("it hurts a lot, should we go to the hospital or come in?", r".*emergency room.*"),
            ("yes", r".*the nurse's line\. .*"),
            ("do I need an appointment for that?", r"The nurse can tell .* say: front desk\..*"),
            ("I need an appointment", r".*the front desk\. .*"),
        )


@virtual
async def test_who_promises_to_call_has_been_told_enough() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("my dad can't breathe", r".*call 911 now.*"),
            ("he is ill, going on eighty", rf"{URGENT}.*"),
            ("ok ok ill call them", r"Good\. .*"),
            ("they're on their way now", r"I see\."),
            ("thank you", r"You're welcome\."),
        )


@virtual
async def test_the_nurses_line_can_be_left() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("is my biopsy result back", r".*What number can we reach you at\?"),
            (
                "I never wanted an appointment, just the result",
                r"The nurse .* or say: front desk\.",
            ),
            ("Tom Adler", r"Thank you\. .*"),
            (
                "can you fit me in on tuesday at ten",
                r"I will put you back to the front desk\. Tuesday, .*",
            ),
        )
        assert stands(line)[2]["name"] == "Tom Adler"
    async with calling(clinic(), ANNA) as line:
        await typed(line, "I need a sick note")
        assert "front desk" in await typed(line, "please do not call me back")
        assert stands(line)[0] == "clinic"
