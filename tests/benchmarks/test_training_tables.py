from __future__ import annotations

from benchmarks.training_tables import fine_tuning, number_formats, recipes, shares
from dlm.datagen.dialogues import SHARES


def test_recipes_stand_in_the_order_of_their_size() -> None:
    own = {"tool": 0.9, "call": 0.8, "tokens_per_forward_calls": 2.5}
    one = {
        "parameters": 6e6,
        "tokens": 1_400_000,
        "heldout_causal": 0.81,
        "heldout_denoising": 1.32,
        "step_ms": {"p50": 2.8},
        "sets": {"own": own},
    }
    figures = {"minutes": 6.0, "recipes": {"6M": one, "3M": one | {"parameters": 3e6}}}
    head, *rows = recipes({"figures": figures})
    assert head[0] == "6 minutes of a core each"
    assert [row[0] for row in rows] == ["3M", "6M"]
    assert rows[0][1:] == ["1.40M", "0.81", "1.32", "90.0%", "80.0%", "2.50", "2.8 ms"]
    assert {len(row) for row in (head, *rows)} == {8}


def test_a_taught_tool_is_told_before_and_after() -> None:
    half, none = {"count": 1, "of": 2, "rate": 0.5}, {"count": 0, "of": 0, "rate": None}
    asked = {"calls": half, "talk": none, "replies": half}
    state = dict.fromkeys(("new_tool", "rest", "rest_beside_new_tool"), asked)
    rows = fine_tuning({"figures": {"training_s": 600, "before": state, "after": state}})
    assert rows[0] == ["10.0 minutes of training", "before", "after"]
    assert rows[1][1:] == ["50.0% (1 of 2)"] * 2
    assert rows[2][1:] == ["", ""]
    assert rows[3][1:] == ["50.0% (1 of 2)"] * 2
    assert len(rows) == 10


def test_formats_are_compared_with_float32() -> None:
    way = {
        "weights_mib": 11.0,
        "tool": 0.98,
        "call": 0.91,
        "same_answer": {"count": 9, "of": 10, "rate": 0.9},
    }
    rows = number_formats({"figures": {"ways": {"float32": way}}})
    assert rows[1] == ["float32", "11.0 MiB", "98.0%", "91.0%", "90.0% (9 of 10)"]


def test_shares_of_every_kind_of_dialogue_have_a_name() -> None:
    rows = shares({"figures": {"shares": SHARES, "reasons": 0.15, "readings": 0.45}})
    assert len({row[0] for row in rows}) == len(SHARES) + 3
    assert rows[1] == ["the assistant with its own tools", f"{SHARES['assistant']:.0%}"]
    assert [row[1] for row in rows[-2:]] == ["15%", "45%"]
