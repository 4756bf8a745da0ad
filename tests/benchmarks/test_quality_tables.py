from __future__ import annotations

import pytest

from benchmarks.quality_tables import NAMES, UNASKED, failures
from dlm.evaluate.sets import SETS


def test_failures_are_told_as_one_reads_them() -> None:
    said = ["user: hello", "assistant: Hi.", "user: ten | twenty"]
    wanted = [["set_timer", {"duration": "ten", "name": "a|b"}], ["list_timers", {}]]
    some = [
        {"set": "own", "said": said, "wanted": wanted, "got": "Which one?"},
        {"set": "asking", "said": [], "wanted": "How long?", "got": None},
        {"set": "unasked", "said": [], "wanted": "Okay.", "got": [["list_timers", {}]]},
        {"set": "unasked", "said": [], "wanted": [["list_timers", {}]], "got": "Okay."},
    ]
    rows = failures({"figures": {"failures": some}})
    assert rows[1:] == [
        [
            "own tools, held-out phrasings",
            "ten \\| twenty",
            "`set_timer(duration: ten, name: a\\|b); list_timers()`",
            "“Which one?”",
        ],
        ["missing information", "", "“How long?”", "something malformed"],
        [UNASKED["unasked"], "", "“Okay.”", "`list_timers()`"],
        [NAMES["unasked"], "", "`list_timers()`", "“Okay.”"],
    ]


@pytest.mark.parametrize("name", SETS)
def test_a_failure_of_any_set_has_a_label(name: str) -> None:
    some = {"set": name, "said": [], "wanted": "Hello.", "got": None}
    assert failures({"figures": {"failures": [some]}})[1][0]
