from __future__ import annotations

import itertools
import re
from pathlib import Path

from dlm.decoding.unmask import RULES
from dlm.effort import REASONING, REFINEMENT, Effort


def test_every_level_has_its_refinement() -> None:
    assert set(REFINEMENT) == set(Effort)
    assert [level.value for level in Effort] == ["instant", "low", "medium", "high"]


def test_more_effort_is_more_steps_and_less_haste() -> None:
    for less, more in itertools.pairwise(REFINEMENT[level] for level in Effort):
        assert less.steps < more.steps
        assert less.threshold < more.threshold
    assert all(0 < r.threshold < 1 for r in REFINEMENT.values())
    assert {r.rule for r in REFINEMENT.values()} <= set(RULES)


def test_the_table_in_the_docs_is_this_one(repo_root: Path) -> None:
    text = (repo_root / "docs" / "server.md").read_text(encoding="utf-8")
    for effort in Effort:
        row = next(line for line in text.splitlines() if line.startswith(f"| `{effort}` | "))
        told = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", row)]
        budget, refinement = REASONING[effort], REFINEMENT[effort]
        thought = [] if budget is None else [budget.enough, budget.most]
        if budget is not None and budget.least > 4:
            thought = [budget.least, *thought]
        assert told == [refinement.steps, refinement.threshold, *thought]
