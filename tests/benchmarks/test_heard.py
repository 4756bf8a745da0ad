from __future__ import annotations

import pytest

from benchmarks.dlm.heard import heard, slots_right
from benchmarks.voice.corpus import people
from dlm.engine.engine import Finished, Request, Usage
from dlm.language.messages import Answer, Call

ORDER = {"coffeeDrink": "iced mocha", "milkAmount": " cream"}


@pytest.mark.parametrize(
    ("arguments", "share"),
    [
        ({"drink": "iced mocha", "milk": "cream"}, 1.0),
        ({"drink": "mocha", "milk": "cream"}, 1 / 3),
        ({"drink": "iced mocha", "milk": "cream", "size": "small", "roast": "dark"}, 0.5),
    ],
)
def test_slots_are_right_if_wanted_and_given_agree(arguments: dict[str, str], share: float) -> None:
    assert slots_right((Call("order_drink", arguments),), ORDER) == pytest.approx(share)


def test_recordings_are_heard_and_asked_about() -> None:
    if not people():
        pytest.skip("no recordings in ../shared/audio")
    asked: list[Request] = []

    def ask(request: Request) -> Finished:
        asked.append(request)
        return Finished(Answer("", (Call("set_timer", {}),)), "stop", Usage(1, 0, 1, 1))

    figures = heard(ask, most=3)
    texts = [request.turns[-1].content for request in asked]
    assert figures["commands"] == figures["orders"] == 3
    assert 0 < figures["commands_read"] < 1
    assert any("shopping list" in text.lower() for text in texts)
    assert {len(request.tools) for request in asked} == {6, 20}
