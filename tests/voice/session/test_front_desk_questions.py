"""Questions and requests beside the clinic's steps, typed: real sessions, flow and tools."""

from __future__ import annotations

import re

import pytest

from tests.support.virtual_parts import calling
from tests.support.virtual_time import virtual
from tests.voice.session.test_flow import ANNA, clinic, stands, typed
from tests.voice.session.test_front_desk import HELP, holds


@pytest.mark.parametrize("said", ["On a Miller", "Ann a mill", "sixty", "bread and butter it is"])
@virtual
async def test_what_asks_for_no_opening_hours_never_gets_them(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven"):
            await typed(line, words)
        assert "We are open" not in await typed(line, said)


@virtual
async def test_a_question_is_answered_and_the_steps_is_asked_once_more() -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(
            line,
            ("a tetanus shot, and is it free", rf"I see\. {HELP} What day would suit you\?"),
            ("will it hurt?", rf"{HELP} Which day shall it be\? .*"),
            ("thanks a lot", r"You're welcome\. I need one more thing\. Which day .*"),
            (
                "thursday at two, how do I get there",
                rf"Thursday, .* at 2:00 PM\. {HELP} What is .*",
            ),
            (
                "Ruth Adler, do you close at lunch",
                r"Thank you\. We are open .* I have Ruth Adler .*",
            ),
            ("and should I eat before it", rf"{HELP} Shall I book it\?"),
            ("yes", r"Booked: .*"),
            ("may he eat before it", r"(?!You have).*"),
            ("what do I bring along", r"Please bring your insurance card .*"),
        )


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("Ruth. Do you need my surname?", r"If you tell me, I note it\. I have Ruth on .*"),
        ("Ruth Adler, and do you want her date of birth?", r"If .* I have Ruth Adler on .*"),
        ("Ruth Adler, can I change it later if I have to", r"Yes, you .* I have Ruth Adler on .*"),
        ("Ruth Adler, do you need a referral", r".*nurse's line.*"),
    ],
)
@virtual
async def test_a_question_beside_a_name_is_answered(said: str, reply: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven"):
            await typed(line, words)
        await holds(line, (said, reply))


@pytest.mark.parametrize(
    ("said", "booked"),
    [
        ("yes. is it ok if his dad brings him", True), ("ok whatever, yes", True),
        ("yes please hurry", True), ("yes call me", True),
        ("yes book it. can I change it later if something comes up?", True),
        ("yes, that one, and may I cancel in case I'm away", True),
        ("go for it", True), ("yes, can we do it later", False), ("sounds good, but later", False),
        ("sure, and can I bring my dog", True), ("yep that's it thank you so much", True),
        ("yes, no, wait", False), ("yes but not at eleven", False),
        ("yes, can you make it twelve", False), ("lovely, what does it cost", False),
        ("yes if my boss lets me go", False),
    ],
)  # fmt: skip
@virtual
async def test_a_yes_counts_beside_questions_and_not_beside_corrections(
    said: str, booked: bool
) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven", "Ruth Adler"):
            await typed(line, words)
        assert (await typed(line, said)).startswith("Booked: ") is booked


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("thx", r"You're welcome\."), ("great, my wife will be pleased, thank you", r"You're .*"),
        ("whats the time and date again so i write it down", r"You have 1 appointment: Friday, .*"),
        ("sorry, when was that", r"You have 1 appointment: Friday, .*"),
        ("yes", r"What can I do for you\?"),
        ("what time do I have to be there", r"That is Friday, .*"),
        ("can I cancel it in case I'm away", r"Yes, you can move or cancel it .*"),
        ("what if I have to move it later", r"Yes, you can move or cancel it .*"),
        ("may I call later if something comes up", r"(?!Moved|Shall I|The next).*"),
        ("I need to find a pen", r"Sorry, I did not get that\."),
        ("i have an appointment then", r"Sorry, I did not get that\."),
        ("thanks. can I pay in cash there", HELP), ("see you on friday", r"Okay\."),
    ],
)  # fmt: skip
@virtual
async def test_behind_a_booking_no_remark_begins_another(said: str, reply: str) -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("a vaccination", "friday at eleven", "Ruth Adler", "yes"):
            await typed(line, words)
        await holds(line, (said, reply), ("my husband fell", r"I see\. What day would suit you\?"))


@virtual
async def test_the_matter_is_read_back_once_and_in_few_words() -> None:
    async with calling(clinic(), ANNA) as line:
        await typed(
            line,
            "Oh hello love, it all began in August when we were in Spain with my sister, lovely"
            " weather it was, oh how is she, and now my left knee is swollen",
        )
        for words in ("friday at eleven", "Ruth Adler"):
            reply = await typed(line, words)
        assert re.fullmatch(
            r"I have .*, for: now my left knee is swollen\. Shall I book it\?", reply
        )
        await holds(
            line,
            ("is there a lift", r"There are no steps: .* Shall I book it\?"),
            ("lovely, and how long does it take?", r".* Shall I book it\?"),
            ("where can I park", r"Patients can park .* Shall I book it\?"),
            ("may my wife come along with me", r"Yes, .* Shall I book it\?"),
            ("when do I come?", r"That is Friday, .*, 11:00 AM\. Shall I book it\?"),
            ("no, make it ten", r"I have Ruth Adler on Friday, .* Shall I book it\?"),
            ("yes", r"Booked: Friday, .* at 10:00 AM\..*"),
        )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("are you open on Saturday and where can I park",
         r"We are open .* Patients can park .*, what is the appointment for\?"),
        ("my back hurts, when are you open and how much is it",
         rf"I see\. We are open .* {HELP} What day would suit you\?"),
        ("is there parking on tuesday", r"Tuesday, .*\. Patients can park .* the matter\?"),
        ("how much is it, can I talk to a nurse",
         r"I will put you through to the nurse's line\. This is .*\?"),
    ],
)  # fmt: skip
@virtual
async def test_a_question_beside_what_a_pattern_answers_is_answered_too(
    said: str, expected: str
) -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(line, (said, expected))


@virtual
async def test_both_requests_of_a_message_are_done() -> None:
    async with calling(clinic(), ANNA) as line:
        for words in ("my knee hurts", "friday at eleven", "Ruth Adler"):
            await typed(line, words)
        await holds(
            line,
            ("y", r"Booked: .*"),
            ("cancel my appointment, and when are you open?", r"We are open .* Shall I cancel .*"),
            ("yes", r"Cancelled: .*"),
            ("a check-up", r".* What day would suit you\?"),
            ("forget the appointment. When are you open?", r"We are open .* 5 PM\."),
        )
        assert not stands(line)[2]


@pytest.mark.parametrize("said", ["I fell down the stairs", "I tripped in the park"])
@virtual
async def test_a_complaint_with_the_words_of_a_question_is_one(said: str) -> None:
    async with calling(clinic(), ANNA) as line:
        await holds(line, (said, r"I see\. What day would suit you\?"))
