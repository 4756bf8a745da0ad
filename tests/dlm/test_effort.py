from __future__ import annotations

import itertools

from dlm.effort import REFINEMENT, Effort


def test_every_level_has_its_refinement() -> None:
    assert set(REFINEMENT) == set(Effort)
    assert [level.value for level in Effort] == ["instant", "low", "medium", "high"]


def test_more_effort_is_more_steps_and_less_haste() -> None:
    for less, more in itertools.pairwise(REFINEMENT[level] for level in Effort):
        assert less.steps < more.steps
        assert less.threshold < more.threshold
    assert all(0 < r.threshold < 1 for r in REFINEMENT.values())
    # None of the levels corrects what it has decided: the shipped checkpoint never learned to.
    assert all(r.editing == 1 for r in REFINEMENT.values())


def test_instant_drafts_once() -> None:
    assert REFINEMENT[Effort.INSTANT].steps == 1
