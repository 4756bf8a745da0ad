"""The language model and the dictionary that are built for pocketsphinx."""

from __future__ import annotations

import logging
import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from voice.config import AgentConfig
from voice.errors import ModelError
from voice.hearing.asr import sphinx_model as module
from voice.hearing.asr.espeak_phonemes import arpabet, pronounce
from voice.hearing.asr.sphinx_model import arpa, dictionary, expand, sphinx_files, words_of


def agent(*phrases: str, **values: tuple[str, ...]) -> AgentConfig:
    return AgentConfig(name="test", instructions="", phrases=phrases, values=values)


def test_files_hold_the_agents_words(tmp_path: Path) -> None:
    files = sphinx_files(agent("a {drink} please", drink=("latte", "mocha")), str(tmp_path))
    entries = files.dictionary.read_text(encoding="utf-8").splitlines()
    words = {entry.split()[0].split("(")[0] for entry in entries}
    assert {"a", "latte", "mocha", "please", "mhm"} <= words
    assert len(words) < 15
    assert "latte please" in files.language_model.read_text(encoding="utf-8")


def test_they_are_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sphinx_files(agent("stop"), str(tmp_path))
    monkeypatch.setattr(module, "arpa", lambda _: pytest.fail("built again"))
    assert sphinx_files(agent("stop"), str(tmp_path)) == first


def test_other_phrases_make_other_files(tmp_path: Path) -> None:
    assert sphinx_files(agent("stop"), str(tmp_path)) != sphinx_files(agent("go"), str(tmp_path))


def test_many_at_once_leave_one_whole_copy(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: sphinx_files(agent("stop"), str(tmp_path)), range(8)))
    [files] = made
    assert files.language_model.read_text(encoding="utf-8").endswith("\\end\\\n")
    assert [path.name for path in tmp_path.iterdir()] == [files.dictionary.parent.name]


def test_no_phrases_mean_general_english(tmp_path: Path) -> None:
    files = sphinx_files(agent(), str(tmp_path))
    assert files.language_model.name == "en-us.lm.bin"
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "file").write_text("in the way")
    files = sphinx_files(agent("stop"), str(tmp_path / "file" / "cache"))
    assert files.language_model.is_file()
    assert "keeping language models in" in caplog.text


def test_an_unknown_slot_is_an_error_that_names_the_agent(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"agent test: phrase '\{x\}'"):
        sphinx_files(agent("{x}"), str(tmp_path))


def test_words_nobody_can_pronounce_are_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "pronounce", lambda words: {"matcha": "M AA CH AH"})
    general = tmp_path / "general.dict"
    general.write_text("tea T IY\ntee T IY\ntea(2) T EY\n")
    with caplog.at_level(logging.WARNING):
        assert dictionary({"tea", "matcha", "12"}, general) == [
            "tea T IY",
            "tea(2) T EY",
            "matcha M AA CH AH",
        ]
    assert "no pronunciation for 12;" in caplog.text


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


def test_unknown_words_get_plausible_sounds() -> None:
    assert pronounce(["macchiato", "matcha", "zyx"]) == {
        "macchiato": "M AE K IH AA T OW",
        "matcha": "M AE CH AH",
        "zyx": "Z IH K S",
    }


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
