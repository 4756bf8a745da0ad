from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.tools.spoken_results import LONGEST_LIST, spoken_result

DEEP = '{"a": ' * 600 + "1" + "}" * 600


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("Timer set for 10 minutes.", "Timer set for 10 minutes."),
        ("Error: No timer is running.", "No timer is running."),
        ("opened", "Opened."),
        ("", "Done."),
        ("null", "There is nothing to report."),
        ("{}", "There is nothing to report."),
        ("true", "Yes."),
        ("17", "17."),
        ('"out for delivery"', "Out for delivery."),
        ("it is so if a<b and c>d", "It is so if a<b and c>d."),
        ('{"time": "half past nine"}', "The time is half past nine."),
        (f'{{"seen at": {10**400}}}', f"The seen at is {10**400:,}."),
        (DEEP, f"{DEEP}."),
        ('{"success": true}', "Done."),
        ('{"success": false}', "That did not work."),
        (
            '{"error": {"code": 404, "message": "City not found"}}',
            "That did not work. City not found. The code is 404.",
        ),
        ('{"isOpen": false, "has_parking": false}', "It is not open and it has no parking."),
        ('{"gate": null, "spots": 1}', "There is no gate and 1 spot."),
        ('{"temp_c": -7.5, "humidity_pct": 84}', "The temperature is -7.5 degrees Celsius and the"
         " humidity is 84 percent."),
        ('{"state": "OUT_FOR_DELIVERY", "eta": "2026-11-26"}', "The state is out for delivery and"
         " the ETA is November 26, 2026."),
        ('{"at": "2026-11-24T14:05:00+01:00", "lasts": "PT1H25M"}', "The at is November 24, 2026"
         " at 2:05 PM and the lasts are 1 hour 25 minutes."),
        ('{"amount": 2680, "currency": "eur"}', "The amount is €26.80."),
        ('{"fine": {"units": 4, "nanos": 500000000, "currency_code": "USD"}}',
         "Fine: amount $4.50."),
        ('{"amount": NaN, "currency": "USD"}', "The amount is NaN and the currency is USD."),
        ('{"price": "1e999999", "currency": "EUR"}', "The price is 1e999999 and the currency is"
         " EUR."),
        ('{"rate": 0.000015}', "The rate is 0.000015."),
        ('["milk", "eggs", "tofu"]', "3 items: milk, eggs and tofu."),
        ('{"notes": []}', "There are no notes."),
        ('[{"id": 7, "name": "Milk", "price": 1.2}, {"name": "Bread", "price": 2.5}]',
         "2 items: Milk, price 1.2; Bread, price 2.5."),
        (json.dumps({"hits": list(range(20))}), "20 hits, the first 5: 0, 1, 2, 3 and 4."),
        ('{"data": {"order": {"drink": "latte", "extras": []}}}', "Order: drink latte, no extras."),
        ('{"content": [{"type": "text", "text": "It rains."}]}', "It rains."),
        ('{"result": "{\\"temp\\": 5}"}', "The temperature is 5."),
        ("<html><title>502</title><h1>Bad gateway</h1><p>a &amp; b</p></html>",
         "Bad gateway. A & b."),
        ('{"url": "https://a.example/x", "state": "open"}', "The state is open."),
        ('{"fooBar": 1, "foo_bar": 2, "address": "Main Street"}', "The foo bar is 1, the"
         " foo_bar is 2 and the address is Main Street."),
        ('{"phone": 4755123456, "people": 12345}', "The phone is 4755123456 and the people is"
         " 12,345."),
        ("<html><title>Gone</title></html>", "Gone."),
        ("<p>Closed <![x y> until <b>noon</b></p>", "Closed until noon."),
        ("1. Stir.\n2. Wait.", "1. Stir.\n2. Wait."),
        ('{"order_id": "A-1042"}', "The order id is A-1042."),
        ("[not json", "[not json."),
    ],
)  # fmt: skip
def test_a_result_is_said_in_sentences(result: str, said: str) -> None:
    assert spoken_result(result) == said


LAB = {
    "patient": {"name": "Biscuit", "phones": ["07700 900111", "07700 900222"]},
    "panels": [
        {"panel": f"panel {number}", "values": [{"marker": "urea", "value": number}] * 8}
        for number in range(7)
    ],
    "signed": True,
    "note": "n" * 200,
}  # fmt: skip
PATIENT = "It is signed. Patient: Biscuit, phones 07700 900111 and 07700 900222."


@pytest.mark.parametrize(
    ("most", "lists"),
    [
        (700, f"{PATIENT} 7 panels, the first 5: panel 0, 8 values, the first 2: marker urea,"
         " value 0; marker urea, value 0; panel 1, 8 values, the first 2: "),
        (420, f"{PATIENT} 7 panels, the first 5: panel 0, 8 values; panel 1, 8 values; panel 2,"
         " 8 values; panel 3, 8 values; panel 4, 8 values. N"),
        (350, f"{PATIENT} 7 panels, the first 2: panel 0, 8 values; panel 1, 8 values. N"),
        (320, f"{PATIENT} 7 panels, the first: panel 0, 8 values. N"),
        (300, "It is signed. Patient: Biscuit, 2 phones. 7 panels. N"),
    ],
)  # fmt: skip
def test_fewer_items_are_said_where_there_is_less_room(most: int, lists: str) -> None:
    said = spoken_result(json.dumps(LAB), most)
    assert len(said) <= most
    assert said.startswith(lists)
    assert said.endswith(f" N{'n' * 199}.")


WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8).filter(
    lambda word: word not in ("ok", "okay", "success")
)
KEYS = WORDS.map(lambda word: f"x{word}")
LEAVES = st.one_of(
    WORDS,
    st.lists(WORDS, min_size=2, max_size=4).map(" ".join),
    st.integers(-9999, 9999),
    st.floats(-1000, 1000, allow_nan=False).map(lambda value: round(value, 2)),
    st.booleans(),
    st.none(),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=LONGEST_LIST)
        | st.dictionaries(KEYS, inner, min_size=1, max_size=5)
    ),
    max_leaves=12,
)


def leaves(value: Any) -> Iterator[Any]:
    """The values in a value that have no parts."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    else:
        yield value


def forms(leaf: Any) -> str:
    """A pattern of the ways in which a leaf may be said."""
    if leaf is None:
        return r"\b(?:no|nothing)\b"
    if isinstance(leaf, bool):
        return r"\b(?:yes|is)\b" if leaf else r"\bno(?:t)?\b"
    if isinstance(leaf, int | float):
        whole = int(leaf) if float(leaf).is_integer() else leaf
        return rf"(?<![\d.]){re.escape(str(whole))}(?![\d]|\.\d)"
    return rf"\b{re.escape(leaf)}\b"


@given(VALUES)
def test_every_value_is_said(value: Any) -> None:
    said = spoken_result(json.dumps(value))
    for leaf in leaves(value):
        assert re.search(forms(leaf), said, re.IGNORECASE), (leaf, said)


@given(st.recursive(
    st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20,
))  # fmt: skip
def test_any_json_becomes_something_that_can_be_said(value: Any) -> None:
    assert spoken_result(json.dumps(value)).strip()


def test_json_of_any_depth_is_answered() -> None:
    assert spoken_result("[" * 100_000)
    assert spoken_result("[" * 500 + "1" + "]" * 500) == "1."
