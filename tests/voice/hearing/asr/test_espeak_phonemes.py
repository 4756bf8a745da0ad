"""Guessed pronunciations, with the real espeak-ng."""

from __future__ import annotations

import pytest

from voice.hearing.asr.espeak_phonemes import arpabet, pronounce


def test_unknown_words_get_plausible_sounds() -> None:
    assert pronounce(["macchiato", "matcha", "zyx"]) == {
        "macchiato": "M AE K IH AA T OW",
        "matcha": "M AE CH AH",
        "zyx": "Z IH K S",
    }


def test_no_words_cost_nothing() -> None:
    assert pronounce([], timeout_s=0) == {}


@pytest.mark.parametrize(
    ("ipa", "phones"),
    [("kˈɔːɹtˈɑːdoʊ", "K AO R T AA D OW"), ("tʃˈɜːtʃ", "CH ER CH"), ("", ""), ("kœ", "")],
)
def test_ipa_becomes_arpabet_or_nothing(ipa: str, phones: str) -> None:
    assert arpabet(ipa) == phones


def test_every_phone_is_one_that_pocketsphinx_has() -> None:
    from pocketsphinx import get_model_path

    from voice.hearing.asr.espeak_phonemes import _IPA

    with open(get_model_path("en-us/cmudict-en-us.dict"), encoding="utf-8") as lines:
        known = {phone for line in lines for phone in line.split()[1:]}
    assert {phone for phones in _IPA.values() for phone in phones.split()} <= known
