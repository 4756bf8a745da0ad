from __future__ import annotations

from pathlib import Path

import pytest

from voice.config import load_agent
from voice.errors import ConfigError


def test_an_agent_has_a_tool_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "x"\ninstructions = "y"\ntools = ["roll_dice", "a", "roll_dice"]\n')
    with pytest.raises(ConfigError, match=r"mine.toml: tools: got 'roll_dice' more than once"):
        load_agent(str(file))
