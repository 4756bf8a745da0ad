from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.voice.read_back import foreign, heard, judged
from voice.session.resources import Resources
from voice.tools.spoken_results import spoken_result

FILES = Path(__file__).parent / "read_back"


def lines(name: str) -> list[str]:
    return (FILES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", lines("results"), ids=lambda line: json.loads(line)["id"])
def test_every_value_of_a_result_is_said_and_nothing_false(line: str) -> None:
    case = json.loads(line)
    result = case["result"]
    said = spoken_result(result if isinstance(result, str) else json.dumps(result))
    assert [forms[0] for forms in case["must_say"] if not heard(said, forms)] == []
    assert [words for words in case["never"] if heard(said, [words])] == []


async def test_the_agent_reads_back_what_its_tools_answered(embedded_parts: Resources) -> None:
    assert (await judged(embedded_parts, lines("results")[:20], show=False))["exact"] == 20
    assert (await judged(embedded_parts, lines("lists")[:20], show=False))["exact"] == 20
    reminders = await judged(embedded_parts, lines("reminders"), show=False)
    assert reminders.get("wrong", 0) == reminders.get("lacking", 0) == 0
    assert reminders["exact"] > reminders["cases"] / 2


def test_the_comparison_tells_what_was_said_from_what_was_not() -> None:
    assert heard("It costs €26.80.", ["twenty six euros and eighty cents"])
    assert not heard("It is 21 degrees.", ["2"])
    assert foreign("The list has tofu.", ["tofu"]) == set()
    assert foreign("The list has podcast.", ["tofu"]) == {"podcast"}
