"""Files are built once, whole, and anew when the phrases change."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from voice.config import AgentConfig
from voice.errors import ModelError
from voice.hearing.asr import sphinx_files as module
from voice.hearing.asr.sphinx_files import dictionary, sphinx_files


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
