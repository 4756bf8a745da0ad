"""Requests as people speak them: what fills a parameter stays one run of what was said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from dlm.datagen.holdout import held_out
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.spontaneous import Speaker, at_ease
from dlm.datagen.own_tools.script import Script
from dlm.datagen.tools.catalog import AGENT_TOOLS
from dlm.datagen.turns import at_ease as turns_at_ease
from dlm.datagen.turns import basic
from dlm.datagen.values import free_text
from dlm.datagen.values.slots import Values

VALUES = Values(free=True)
TIMER = [Piece("set a timer for "), Piece("ten minutes", "duration"), Piece(" please")]


def speaker(seed: int, other: str = "fifteen minutes") -> Speaker:
    rng = Random(seed)
    return Speaker(rng, "train", lambda symbol: VALUES.text(symbol, rng), lambda *_: other)


def text(pieces: list[Piece]) -> str:
    return " ".join("".join(piece.text for piece in pieces).split())


def talk(seed: int, agent: str = "assistant") -> Script:
    script = Script(Random(seed), VALUES, "train", at_ease=True)
    script.offer(AGENT_TOOLS[agent])
    return script


def calls(script: Script) -> list[tuple[str, dict[str, str]]]:
    found = [m for m in script.messages if m.get("tool_calls")]
    return [(c["name"], c["arguments"]) for m in found for c in m["tool_calls"]]


def test_what_is_put_around_a_request_leaves_its_values_alone() -> None:
    said = Counter(text(at_ease(speaker(seed), TIMER, order=True)) for seed in range(300))
    assert len(said) > 150
    for seed in range(300):
        values = [p for p in at_ease(speaker(seed), TIMER, True) if p.slot == "duration"]
        assert values == [Piece("ten minutes", "duration")]


def test_what_is_withdrawn_told_or_wondered_calls_nothing() -> None:
    for seed in range(20):
        script = talk(seed, "coffee" if seed % 2 else "assistant")
        turns_at_ease.tell(script)
        turns_at_ease.wonder(script)
        turns_at_ease.withdraw(script, "order_drink" if seed % 2 else "set_alarm")
        assert not calls(script)


def test_who_gets_stuck_is_asked_for_what_is_missing() -> None:
    kinds: Counter[int] = Counter()
    for seed in range(60):
        script = talk(seed)
        if turns_at_ease.trail_off(script, "set_timer"):
            assert script.messages[1].get("kind") == "ask"
            kinds[len(calls(script))] += 1
    assert kinds[0] and kinds[1] and set(kinds) == {0, 1}


def test_what_was_said_is_undone_and_asked_for() -> None:
    script = talk(3)
    basic.request(script, "add_to_list")
    added = calls(script)[0][1]
    assert turns_at_ease.ask_back(script)
    assert basic.request(script, "set_alarm")
    assert turns_at_ease.take_back(script)
    assert [name for name, _ in calls(script)] == [
        *("add_to_list", "read_list", "set_alarm", "cancel_alarm")
    ]
    kept = {key: value for key, value in added.items() if key == "list"}
    assert calls(script)[1][1] == kept


def test_the_grammar_has_no_circles_and_no_unknown_kinds() -> None:
    rng = Random(4)
    for symbol in free_text.GRAMMAR:
        assert all(VALUES.text(symbol, rng).strip() for _ in range(30))


def test_what_corpora_give_is_in_training_alone(corpora: Path) -> None:
    found = free_text.read(corpora)
    assert not any(held_out(text) for texts in found.values() for text in texts)


def test_the_order_of_a_set_decides_nothing() -> None:
    """The texts of several slots are drawn in the order of their names."""
    drawn: list[str] = []

    def text(symbol: str) -> str:
        drawn.append(symbol)
        return symbol

    someone = Speaker(Random(1), "train", text, lambda *_: "")
    assert someone.words(["{remark} and {reason} so {person} {event}"])
    assert drawn == ["event", "person", "reason", "remark"]
