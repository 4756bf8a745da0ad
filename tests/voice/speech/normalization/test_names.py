from __future__ import annotations

import pytest

from voice.speech.normalization import spoken
from voice.speech.normalization.abbreviations import say_capitals


@pytest.mark.parametrize(
    ("word", "said"),
    [("USB", "U S B"), ("NASA", "NASA"), ("OK", "okay"), ("ASAP", "A S A P"), ("HTML", "H T M L")],
)
def test_capitals(word: str, said: str) -> None:
    assert say_capitals(word) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("anna.lee42@example.com.", "anna dot lee forty two at example dot com."),
        ("a_b-c@x.co.uk", "a underscore b dash c at x dot c o dot u k"),
        ("https://www.example.com/docs/a1?x=1#y", "example dot com slash docs slash a one"),
        ("see www.x.org, please", "see x dot org, please"),
        ("World War II and Part IV", "World War two and Part four"),
        ("Henry VIII", "Henry eight"),
        ("The IV drip", "The I V drip"),
        ("12 Elm Dr, 5 Main St, 5th Ave", "twelve Elm drive, five Main street, fifth avenue"),
        ("ext. 423", "extension four two three"),
        ("example.com is up", "example dot com is up"),
        ("config.toml and v1.2", "config dot toml and v one point two"),
        ("end.Next", "end. Next"),
    ],
)
def test_addresses(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Mr. and Mrs. Lee vs. Prof. Ray", "mister and missus Lee versus professor Ray"),
        ("St. Mary on Oak St. and Elm Dr.", "saint Mary on Oak street and Elm drive."),
        ("tea, etc. and so on, etc.", "tea, et cetera and so on, et cetera."),
        ("i.e. that, e.g. this", "that is that, for example this"),
        ("the U.S. Army, the U.S.", "the U S Army, the U S."),
        ("J. Smith", "J Smith"),
        ("No. 5. No. Yes.", "number five. No. Yes."),
        ("tea w/ milk w/o sugar", "tea with milk without sugar"),
        ("I am. So am I.", "I am. So am I."),
    ],
)
def test_abbreviations(text: str, said: str) -> None:
    assert spoken(text) == said
