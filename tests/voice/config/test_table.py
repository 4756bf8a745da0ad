from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from voice.config import AgentConfig, Config
from voice.config.table import page


def test_the_page_in_docs_is_current(repo_root: Path) -> None:
    shown = (repo_root / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert shown == page(), "run: python -m voice.config.table > docs/configuration.md"


def test_every_option_has_a_row() -> None:
    rows = {line.split("`")[1] for line in page().splitlines() if line.startswith("| `")}
    assert rows >= {*option_keys(Config), *option_keys(AgentConfig)}


def test_every_option_and_group_has_a_meaning() -> None:
    for line in page().splitlines():
        if line.startswith("| "):
            assert all(cell.strip() for cell in line.strip("|").split("|")), line


def test_a_row_shows_type_bounds_default_and_meaning() -> None:
    assert (
        '| `asr.engine` | `auto`, `sphinx`, `whisper` | `"auto"` | auto is whisper, or sphinx'
        " where the machine is too slow for it. |"
    ) in page()
    assert "| `tts.speed` | number, ≥ 0.25, ≤ 4 | `1.0` |" in page()
    assert "| `INCEPTION_API_KEY` | `llm.remote.api_key_env` |" in page()


def option_keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    keys: list[str] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            keys += option_keys(inner, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys
