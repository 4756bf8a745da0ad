"""Phrases are expanded evenly, and the model of them is a probability distribution."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

from voice.hearing.asr.language_model import arpa, expand, words_of

PHRASES = ("set a timer for {duration}", "stop", "add {item} and {item} to my list")
VALUES = {"duration": ("ten minutes", "an hour"), "item": ("milk", "eggs", "oat milk")}


def test_words() -> None:
    assert words_of("What's on MY list, please?") == ["what's", "on", "my", "list", "please"]
    assert words_of("the kids' room’s light") == ["the", "kids'", "room's", "light"]


def test_each_phrase_weighs_the_same_and_each_value_comes() -> None:
    weights: Counter[str] = Counter()
    seen = set()
    for words, weight in expand(PHRASES, VALUES):
        weights[words[0]] += weight  # type: ignore[assignment]
        seen.add(" ".join(words))
    assert weights["set"] == pytest.approx(weights["stop"])
    assert weights["add"] == pytest.approx(weights["stop"])
    assert {"set a timer for ten minutes", "set a timer for an hour", "stop"} < seen
    assert any(text.startswith("add oat milk and") for text in seen)


def test_expansion_is_the_same_each_time() -> None:
    assert list(expand(PHRASES, VALUES)) == list(expand(PHRASES, VALUES))


def test_an_unknown_slot_is_named() -> None:
    with pytest.raises(ValueError, match="got slot 'nothing'"):
        list(expand(["play {nothing}"], VALUES))


def read(text: str) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]:
    """Probabilities and back-off weights of an ARPA text."""
    probabilities, backoffs = {}, {}
    order = 0
    for line in text.splitlines():
        if line.endswith("-grams:"):
            order = int(line[1])
        elif order and line and not line.startswith("\\"):
            first, *rest = line.split()
            gram = tuple(rest[:order])
            probabilities[gram] = 10 ** float(first)
            if len(rest) > order:
                backoffs[gram] = 10 ** float(rest[order])
    return probabilities, backoffs


def probability(gram: tuple[str, ...], model: tuple[dict, dict]) -> float:  # type: ignore[type-arg]
    probabilities, backoffs = model
    if gram in probabilities:
        return float(probabilities[gram])
    return float(backoffs.get(gram[:-1], 1.0)) * probability(gram[1:], model)


@pytest.mark.parametrize(
    "history", [(), ("add",), ("add", "milk"), ("<s>", "set"), ("eggs", "set")]
)
def test_after_any_history_probabilities_sum_to_one(history: tuple[str, ...]) -> None:
    model = read(arpa(expand(PHRASES, VALUES)))
    words = {gram[0] for gram in model[0] if len(gram) == 1} - {"<s>"}
    total = sum(probability((*history, word), model) for word in words)
    assert total == pytest.approx(1, abs=2e-3)


def test_seen_orders_are_likelier() -> None:
    model = read(arpa(expand(PHRASES, VALUES)))
    assert probability(("timer", "for", "ten"), model) > 10 * probability(
        ("for", "ten", "add"), model
    )


def test_counts_in_the_header_are_right() -> None:
    text = arpa([(["yes"], 1.0), (["yes", "please"], 1.0)])
    probabilities, _ = read(text)
    for order in (1, 2, 3):
        count = sum(len(gram) == order for gram in probabilities)
        assert f"ngram {order}={count}\n" in text
    assert math.isclose(probabilities[("<s>",)], 1e-99)


def test_pocketsphinx_reads_it(tmp_path: Path) -> None:
    import pocketsphinx

    file = tmp_path / "model.arpa"
    file.write_text(arpa(expand(PHRASES, VALUES)), encoding="utf-8")
    config = pocketsphinx.Config(lm=None, loglevel="FATAL")
    model = pocketsphinx.NGramModel(config, pocketsphinx.LogMath(), str(file))
    assert model.prob(["ten", "for", "timer"]) > model.prob(["stop", "for", "timer"])


def test_nothing_makes_no_model() -> None:
    with pytest.raises(ValueError, match="no sentences"):
        arpa([])
