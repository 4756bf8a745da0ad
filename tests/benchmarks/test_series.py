from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from benchmarks import report, series
from benchmarks.series import Series, add_options


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (report, series):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path


def made(*arguments: str) -> Series:
    parser = argparse.ArgumentParser()
    add_options(parser)
    return Series("some", "benchmarks.some", parser.parse_args(arguments))


def test_it_goes_on_with_what_is_missing() -> None:
    made().add("first", lambda: 1)
    later = made("--go-on")
    later.add("first", lambda: pytest.fail("measured twice"))
    later.add("second", lambda: 2)
    assert later.figures == {"first": 1, "second": 2}
    assert made().figures == {}


@pytest.mark.parametrize(
    ("key", "value"), [("commit", "0123456789ab"), ("cpu", "another"), ("cores", 0)]
)
def test_it_does_not_go_on_at_another_commit_or_machine(
    key: str, value: object, results: Path
) -> None:
    made().add("first", lambda: 1)
    file = results / "some.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    (told if key == "commit" else told["machine"])[key] = value
    file.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(SystemExit, match=rf"^some\.json .*\({key} '?{value}'?, now .* --go-on$"):
        made("--go-on")
    assert made().figures == {}
    assert json.loads(file.read_text(encoding="utf-8")) == told
