"""The tables of threats and of faults name a test for every answer; each of them exists."""

import re
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["security.md", "operations.md"])
def test_every_named_test_exists(repo_root: Path, name: str) -> None:
    page = (repo_root / "docs" / name).read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| ") and "`" in row]
    assert len(rows) > 12
    for row in rows:
        named = re.findall(r"`((?:[\w/]*test_\w+\.py)?(?:::test_\w+)?)`", row.rpartition("|")[0])
        found = [name for name in named if name]
        assert found, f"no test is named: {row}"
        file = ""
        for name in found:
            path, _, test = name.partition("::")
            file = path.removeprefix("tests/") or file
            source = (repo_root / "tests" / file).read_text(encoding="utf-8")
            assert not test or f"def {test}(" in source, name
