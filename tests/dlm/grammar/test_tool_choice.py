from __future__ import annotations

import torch
from torch import Tensor

from dlm.grammar.tool_choice import CERTAIN, ToolChoice

CALL, KEY, GET, SET, WEATHER, TIME, ZONE, LIGHT = range(3, 11)
SPELLED = {
    "weather": (GET, WEATHER),
    "time": (GET, TIME),
    "zone": (GET, TIME, ZONE),
    "light": (SET, LIGHT),
}
GAINS = {"weather": -1.0, "time": -3.0, "zone": 0.0, "light": -2.0}


def names(*tokens: int, gains: dict[str, float] | None = None) -> ToolChoice:
    made = ToolChoice(CALL, SPELLED)
    if gains is not None:
        made.set_gains(gains)
    for token in tokens:
        made.follow(token)
    return made


def row(**shares: float) -> Tensor:
    """Logits that give some tokens these shares."""
    ids = {
        "call": CALL,
        "get": GET,
        "set": SET,
        "weather": WEATHER,
        "time": TIME,
        "zone": ZONE,
        "key": KEY,
    }
    probabilities = torch.full((12,), 1e-6)
    for name, share in shares.items():
        probabilities[ids[name]] = share
    return probabilities.log()


def test_an_answer_begins_with_a_call_that_is_likelier_than_all_else_together() -> None:
    spread = row(call=0.4, weather=0.3, time=0.3)
    made = names()
    assert made.adjusts
    assert int(made.adjusted(spread).argmax()) in (WEATHER, TIME)
    # Where the grammar allows nothing else, it is still to be had.
    assert made.adjusted(spread)[CALL].isfinite()
    clear = row(call=0.6, weather=0.2, time=0.2)
    assert torch.equal(made.adjusted(clear), clear)
    # Behind the first token it is one of many, and a sample has its shares from the noise.
    for other in (names(WEATHER), ToolChoice(CALL, SPELLED, sampled=True)):
        assert not other.adjusts
        assert torch.equal(other.adjusted(spread), spread)
    copied = made.copy()
    assert copied.adjusts and not names(WEATHER).copy().adjusts
    copied.follow(WEATHER)
    assert made.adjusts and not copied.adjusts


def test_a_doubt_is_one_between_tools() -> None:
    torn = row(get=0.5, set=0.5)
    assert names(CALL).in_doubt(torn)
    assert not names(CALL).in_doubt(row(get=1.0, set=(1 - CERTAIN) / 2))
    # Before a call, behind a name, and where only one tool is left, nothing is chosen.
    assert not names().in_doubt(torn)
    assert not names(20).in_doubt(torn)
    assert not names(CALL, SET).in_doubt(torn)
    assert not names(CALL, GET, WEATHER, KEY).in_doubt(torn)


def test_what_no_tool_begins_with_is_no_part_of_the_doubt() -> None:
    assert not names(CALL).in_doubt(row(get=0.3, set=1e-4, key=0.6))


def test_a_name_that_another_begins_with_may_end() -> None:
    assert names(CALL, GET, TIME).in_doubt(row(zone=0.5, key=0.5))
    assert not names(CALL, GET, TIME).in_doubt(row(zone=1e-4, key=1.0))


def test_with_gains_nothing_is_in_doubt_and_the_best_tool_behind_a_token_counts() -> None:
    made = names(CALL, gains=GAINS)
    torn = row(get=0.5, set=0.5)
    assert made.adjusts and not made.in_doubt(torn)
    leant = made.adjusted(torn)
    assert leant[GET] - torn[GET] == 0.0
    assert leant[SET] - torn[SET] == -2.0
    assert leant[KEY] == -torch.inf


def test_of_a_whole_name_and_a_longer_one_each_gains_its_own() -> None:
    made = names(CALL, GET, TIME, gains=GAINS)
    torn = row(zone=0.5, key=0.5)
    leant = made.adjusted(torn)
    assert leant[ZONE] - torn[ZONE] == 0.0
    assert leant[KEY] - torn[KEY] == -3.0


def test_other_spellings_of_a_name_are_the_models_alone() -> None:
    made = names(CALL, 1, gains=GAINS)
    assert made.complete and not made.adjusts


def test_a_copy_goes_on_by_itself() -> None:
    made = names(CALL, gains=GAINS)
    twin = made.copy()
    twin.follow(SET)
    assert made.adjusts and not twin.adjusts
    assert twin.adjusted(row(set=1.0)).tolist() == row(set=1.0).tolist()
