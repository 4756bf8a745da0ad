from __future__ import annotations

import pytest

from voice.tools.builtin.money import ticker_of


@pytest.mark.parametrize(
    ("company", "ticker"),
    [
        ("apple", "aapl.us"),
        ("Apple", "aapl.us"),
        ("tesla stock", "tsla.us"),
        ("the coca-cola company", "ko.us"),
        ("Johnson & Johnson", "jnj.us"),
        ("nvidea", "nvda.us"),
        ("i b m", "ibm.us"),
        ("I.B.M.", "ibm.us"),
        ("a t and t", "t.us"),
        ("AAPL", "aapl.us"),
        ("x y z", "xyz.us"),
        ("blorp", None),
        ("", None),
    ],
)
def test_tickers(company: str, ticker: str | None) -> None:
    assert ticker_of(company) == ticker
