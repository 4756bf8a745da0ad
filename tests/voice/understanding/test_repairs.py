from __future__ import annotations

import pytest

from voice.understanding.repairs import repaired


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("a flat white no wait a latte no a flat white", "a flat white"),
        ("set a timer for ten minutes for the pasta, no, fifteen",
         "set a timer for fifteen minutes for the pasta"),
        ("set a timer for ten no fifteen minutes", "set a timer for fifteen minutes"),
        ("wake me at quarter past three sorry half five tomorrow", "wake me at half five tomorrow"),
        ("Turn on the kitchen light, I mean the bedroom light.", "Turn on the bedroom light"),
        ("two no just one jar of pickles", "one jar of pickles"),
        ("turn on no turn off the lights", "turn off the lights"),
        ("don't call maria sorry don't call elena", "don't call elena"),
        ("what's the time in Oslo or rather in Bergen", "what's the time in Bergen"),
    ],
)  # fmt: skip
def test_what_is_taken_back_goes(said: str, meant: str) -> None:
    assert repaired(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "a latte with no sugar",
        "steamed milk with vanilla plus no milk",
        "no fifteen",
        "no wait",
        "is there no train at nine",
        "say no to him",
        "a mocha and no whip make it large",
        "set a timer for ten minutes no wait",
        "i have no idea what i mean",
        "not the cappuccino, I meant a cortado",
        "don't call maria sorry call elena",
        "it isn’t twenty five no twenty six",
    ],
)
def test_no_is_no_repair_without_a_like(said: str) -> None:
    assert repaired(said) == said
