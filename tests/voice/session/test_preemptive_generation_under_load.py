"""Several callers on one machine, in virtual time: drafts are made as long as they pay."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from statistics import mean

from tests.support.virtual_parts import Model, VirtualParts, calling, last_user, parts
from tests.support.virtual_time import run
from voice.events import DraftsUsed, ReplyEnded
from voice.llm.base import Prompt

SAID = ("tell me about tea", "what is the weather", "set a timer for ten minutes", "play some jazz")
TURNS = 4
SLOW_S, FAST_S = 0.06, 0.02
"""What a forward takes; a reply takes four or five."""


class Judging(Model):
    """Knows which messages are whole; to say so takes a short forward."""

    async def end_of_message(self, prompt: Prompt) -> float | None:
        async with self._one:
            await asyncio.sleep(self._forward_s / 2)
        return 0.95 if last_user(prompt) in SAID else 0.0


@dataclass
class Heard:
    """What callers got: dead air in seconds, and how many drafts were made."""

    dead_air_s: list[float] = field(default_factory=list)
    made: int = 0
    skipped: int = 0


def answer(prompt: Prompt) -> str:
    return f"You said {last_user(prompt)} and this is what I think of that, all told."


def held(calls: int, forward_s: float, *options: str) -> Heard:
    """What so many callers get who speak whenever they like."""
    heard = Heard()

    async def call(loaded: VirtualParts, number: int) -> None:
        chance = random.Random(number)
        async with calling(loaded) as line:
            await asyncio.sleep(number * 0.7)
            for turn in range(TURNS):
                await line.say(SAID[(number + turn) % len(SAID)])
                await line.next(ReplyEnded)
                heard.dead_air_s.append(line.heard_after())
                await asyncio.sleep(1 + 2 * chance.random())
            for told in line.of(DraftsUsed):
                heard.made += told.made
                heard.skipped += told.skipped

    async def main() -> None:
        loaded = parts(Judging(answer, forward_s), None, None, *options)
        async with asyncio.TaskGroup() as group:
            for number in range(calls):
                group.create_task(call(loaded, number))

    run(main())
    return heard


def test_few_callers_get_every_draft() -> None:
    always, ours = held(4, FAST_S, "drafting.max_replying=99"), held(4, FAST_S)
    assert ours == always
    assert ours.made >= 4 * TURNS
    without = held(4, FAST_S, "drafting.enabled=false")
    assert mean(ours.dead_air_s) < mean(without.dead_air_s) - 2 * FAST_S


def test_many_callers_on_a_slow_machine_get_fewer_and_wait_no_longer() -> None:
    always, ours = held(8, SLOW_S, "drafting.max_replying=99"), held(8, SLOW_S)
    assert ours.made < always.made / 2
    assert ours.skipped > always.skipped
    without = held(8, SLOW_S, "drafting.enabled=false")
    assert mean(ours.dead_air_s) <= mean(without.dead_air_s)


def test_many_callers_on_a_fast_machine_get_theirs() -> None:
    assert held(8, FAST_S / 2) == held(8, FAST_S / 2, "drafting.max_replying=99")
