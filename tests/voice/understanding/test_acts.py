"""What callers want done with an appointment that there is, in words of all sorts."""

from __future__ import annotations

import pytest

from voice.understanding.acts import Act, act_on, beside

THINGS = ("appointment", "visit", "booking", "slot", "check up")

NAMED = {
    Act.END: """
        I need to cancel my appointment
        could you call off the visit on Friday
        I'm afraid I won't be able to make it on Monday
        we can't come tomorrow
        please scrap my booking
        I'd like to get rid of that appointment, I'm better now
        I no longer need the appointment
        my husband doesn't need his visit any more
        I'd like to cancel please
        take me off the list for Tuesday
        I'm not going to make Thursday
        can I drop my slot
    """,
    Act.CHANGE: """
        can I move my appointment to Tuesday
        I'd like to reschedule
        could we push the visit back an hour
        is there any way to bring my appointment forward
        I have a booking for Friday but could we swap it for Monday
        something came up, I need another day
        can you postpone my check up
        we need a different time for the appointment
        I want to change my booking
        I'd need to rearrange
        can I switch my slot to the afternoon
        he has moved house, so I'd like to move his appointment
        the appointment on friday, a later time would suit me better
    """,
    Act.TELL: """
        when is my appointment
        do I have an appointment this week
        what time is my visit
        can you remind me of my booking
        am I booked in for Monday
        I think I have an appointment, but I've forgotten when it is
        could you check my appointment
        is there anything down for me
        have I got a visit booked
        which day is the check-up
        do you have anything booked for me
        what did you book for the appointment
        so is my appointment moved or not
        has my visit been confirmed
    """,
}
OTHER = """
    I need an appointment
    I'd like an appointment on Monday
    my back hurts and I can't sleep
    do you have an appointment on Tuesday
    what appointments have you got free
    when can I get an appointment
    can I book a visit for my son
    please don't cancel my appointment
    my knee gave way when I moved house
    I had to change the dressing twice
    I can't bend my knee
    the earliest slot that is free
    I can't keep any food down
    I can't make a fist any more
    I'm not able to keep my balance
    I can't do anything with my arm
    my foot hurts, I could not come to work for a week
    I fell the other day and my knee hurts
    my back hurts every other day
    it comes and goes at different times of the day
    I need another day off work
    I'm going to miss school if this goes on
    I took my mom off her pills
    I'd like a check-up, we just moved here
    we are moving to Leeds and I need an appointment before
"""
BEHIND = {
    Act.END: "drop it / can you scrap that one / I don't need it any more / cancel that, please",
    Act.CHANGE: (
        "could we do that in the afternoon instead / make it eleven / an hour later would be better"
        " for that / can you move it to Monday / I'd rather have it on Tuesday"
        " / can we do Friday instead"
    ),
    Act.TELL: (
        "when was it / which day is that / what time is it at / so is it moved now or not"
        " / has that been changed / was it cancelled / do we have a booking"
        " / have we got an appointment / when are they coming / can you remind me what we agreed"
    ),
    Act.ANOTHER: (
        "my brother wants one too / I need another appointment / one for my wife as well"
        " / I'd also like to see somebody about my back / can I book a second one"
        " / then just give me a new one / no, give us another one on Monday"
        " / could we have a visit too"
    ),
    None: (
        "give me a moment / is it possible / thanks a lot"
        " / that's all / my wife fell down the stairs / is it free / yes"
    ),
}


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("said", "act"), [(said, act) for act, text in NAMED.items() for said in lines(text)]
)
def test_an_act_names_the_thing_or_can_mean_nothing_else(said: str, act: Act) -> None:
    assert act_on(said, THINGS) is act


@pytest.mark.parametrize("said", lines(OTHER))
def test_what_is_no_act_on_a_thing_that_there_is(said: str) -> None:
    assert act_on(said, THINGS) is None


@pytest.mark.parametrize(
    ("said", "act"), [(said, act) for act, text in BEHIND.items() for said in text.split(" / ")]
)
def test_a_pronoun_is_the_thing_that_was_spoken_of(said: str, act: Act | None) -> None:
    assert act_on(said, THINGS, spoken_of=True) is act


def test_what_is_being_arranged_is_not_what_is_kept() -> None:
    assert act_on("I can't come on Monday", THINGS, begun=True) is None
    assert act_on("could we move it to Tuesday", THINGS, begun=True) is None
    assert act_on("cancel my other appointment", THINGS, begun=True) is Act.END


def test_nothing_is_kept_where_nothing_has_a_name() -> None:
    assert act_on("cancel my appointment", ()) is None


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("what do I have booked with you?", Act.TELL), ("what have we got reserved", Act.TELL),
        ("tell me what you have down for us", Act.TELL), ("what do you have free", None),
        ("did you cancel my table", Act.TELL), ("have you moved my table", Act.TELL),
        ("which table have I got", Act.TELL), ("do you know if I have a table", Act.TELL),
        ("how many tables have I got", Act.TELL), ("I need a different table", Act.CHANGE),
        ("I need a table for my sister", Act.ANOTHER), ("a second table please", Act.ANOTHER),
        ("I need a different lamp", None), ("I need an appointment with it", None),
    ],
)  # fmt: skip
def test_a_thing_of_any_name_can_be_kept(said: str, act: Act | None) -> None:
    assert act_on(said, ("table", "reservation"), spoken_of=True) is act


def test_what_is_wanted_beside_the_last_is_named_like_it() -> None:
    assert beside("and a table too", ("table",)) == "too"
    assert beside("another table for my sister", ("table",)) == "another table for my"
    assert beside("another lamp for my sister", ("table",)) == ""
