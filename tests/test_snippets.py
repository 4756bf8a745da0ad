"""What README and docs give to be copied: it can be read as what it is, and our examples run."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.voice.realtime.test_over_sockets import running
from tests.voice.tools.mcp.test_faulty_servers import check, run
from voice.config import ToolsConfig, TurnConfig
from voice.session.resources import Resources
from voice.tools import Toolbox

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
READERS: dict[str, Callable[[str], object]] = {
    "python": lambda code: compile(code, "snippet", "exec"),
    "toml": tomllib.loads,
    "json": json.loads,
}


def snippets(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def written(language: str) -> Iterator[object]:
    for page in PAGES:
        for number, code in enumerate(snippets(page, language)):
            yield pytest.param(language, code, id=f"{page.name}-{language}-{number}")


@pytest.mark.parametrize(("language", "code"), [one for name in READERS for one in written(name)])
def test_a_snippet_is_what_it_says(language: str, code: str) -> None:
    READERS[language](code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_has_a_module(page: Path) -> None:
    named = re.findall(r"python -m ([a-z_0-9.]+[a-z_0-9])", page.read_text(encoding="utf-8"))
    assert [module for module in named if find_spec(module) is None] == []


async def test_the_typed_turn_of_the_readme(embedded_parts: Resources) -> None:
    (code,) = snippets(ROOT / "README.md", "python")
    async with running(embedded_parts) as url:
        there = url.removeprefix("ws://").removesuffix("/v1/realtime")
        assert code.count("127.0.0.1:7860") == 1
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", code.replace("127.0.0.1:7860", there)),
            stdout=asyncio.subprocess.PIPE,
        )
        said, _ = await program.communicate()
    assert said.decode() == "12 times 7 is 84.\n"


async def test_the_tool_of_another_program(tmp_path: Path) -> None:
    (code,) = snippets(ROOT / "docs" / "mcp.md", "python")
    file = tmp_path / "dice.py"
    file.write_text(code, encoding="utf-8")
    server = {"command": sys.executable, "args": [str(file)], "start_timeout_s": PATIENCE_S}
    config = ToolsConfig.model_validate({"database": ":memory:", "mcp": {"dice": server}})
    box = Toolbox(config, TurnConfig(tool_timeout_s=PATIENCE_S))
    try:
        assert await asyncio.to_thread(box.connect, check) == ["mcp dice: roll_dice"]
        assert re.fullmatch("The die shows a [1-6].", (await run(box, "roll_dice")).content)
    finally:
        await box.close()
