from __future__ import annotations

from collections.abc import Sequence

from benchmarks.voice.conversing import at_once, summary
from benchmarks.voice.corpus import Utterance, demo_lines
from benchmarks.voice.figures import Said
from tests.benchmarks.test_figures import said

LINES = [*demo_lines("assistant")[:3], demo_lines("assistant")[-1]]


async def test_every_call_says_all_lines_and_begins_with_another() -> None:
    asked: list[tuple[str, list[str]]] = []

    async def converse(url: str, utterances: Sequence[Utterance]) -> list[Said]:
        asked.append((url, [utterance.name for utterance in utterances]))
        return [said() for _ in utterances]

    names = [line.name for line in LINES[:-1]]
    found = await at_once(converse, "ws://x", LINES, 2)
    assert len(found) == 6
    assert asked == [("ws://x", names), ("ws://x", [*names[1:], names[0]])]


def test_the_figures_of_calls() -> None:
    told = summary([said(), said(status="none", voice_to_voice_ms=None), said(early_commits=1)])
    assert (told["turns"], told["replied"]) == (3, 2)
    assert told["voice_to_voice_ms"]["p50"] == 400
    assert told["false_cutoffs"]["count"] == 1
