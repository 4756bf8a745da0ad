from __future__ import annotations

from benchmarks.training_tables import shares
from dlm.datagen.dialogues import SHARES


def test_shares_of_every_kind_of_dialogue_have_a_name() -> None:
    rows = shares({"figures": {"shares": SHARES, "reasons": 0.15, "readings": 0.45}})
    assert len({row[0] for row in rows}) == len(SHARES) + 3
    assert rows[1] == ["the assistant with its own tools", f"{SHARES['assistant']:.0%}"]
    assert [row[1] for row in rows[-2:]] == ["15%", "45%"]
