"""Scores the model on what the embedded recogniser hears real people say.

The recordings of benchmarks.voice.corpus whose intended tool is known are cut at the end of their
speech. Commands are scored by the tool that is called, orders by the share of slots that are right.
The commands' written texts are scored too, which shows the recogniser's part in the errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.voice.corpus import NO_TOOL, Utterance, orders, people
from dlm.datagen.tools.catalog import AGENT_TOOLS, INSTRUCTIONS, TOOLS
from dlm.engine.request import Request
from dlm.evaluate.scores import Ask, plain
from dlm.language.messages import Call, Tool, Turn
from voice.audio import Framer
from voice.config import SphinxConfig, load_agent
from voice.hearing.asr.sphinx import SphinxRecognizer
from voice.types import SAMPLE_RATE_HZ, Samples

LEAD = SAMPLE_RATE_HZ // 2
SLOTS = {
    "coffeeDrink": "drink",
    "milkAmount": "milk",
    "sugarAmount": "sweetener",
    "numberOfShots": "shots",
    "roast": "roast",
    "size": "size",
}
"""Slot as the recordings name it → argument of our tool."""


def heard(ask: Ask, most: int = 1000) -> dict[str, float | int]:
    """Figures of commands and orders; empty where the recordings are absent."""
    figures: dict[str, float | int] = {}
    commands = [u for u in people() if u.tool not in (None, NO_TOOL)][:most]
    if commands:
        read = [_tool(ask, u, u.text or "") == u.tool for u in commands]
        said = [_tool(ask, u, text) == u.tool for u, text in _texts(commands)]
        figures["commands"] = len(commands)
        figures["commands_read"] = round(sum(read) / len(read), 4)
        figures["commands_heard"] = round(sum(said) / len(said), 4)
    spoken = orders()[:most]
    if spoken:
        shares = [slots_right(_calls(ask, u, text), u.slots) for u, text in _texts(spoken)]
        figures["orders"] = len(shares)
        figures["orders_slots_heard"] = round(sum(shares) / len(shares), 4)
    return figures


def slots_right(calls: tuple[Call, ...], slots: dict[str, str]) -> float:
    """Right arguments of the order's calls, as a share of all that are wanted or given."""
    wanted = {(SLOTS[name], plain(value)) for name, value in slots.items()}
    given = {
        (k, plain(v)) for c in calls if c.name == "order_drink" for k, v in c.arguments.items()
    }
    return len(wanted & given) / len(wanted | given)


def _texts(utterances: Sequence[Utterance]) -> Iterator[tuple[Utterance, str]]:
    """Each utterance with the text that the embedded recogniser hears."""
    agents = {agent: load_agent(agent) for agent in sorted({u.agent for u in utterances})}
    known = {name: SphinxRecognizer(SphinxConfig(), agent) for name, agent in agents.items()}
    for turn_id, utterance in enumerate(utterances):
        stream = known[utterance.agent].open(turn_id)
        for frame in Framer().push(_padded(utterance)):
            stream.accept(frame)
        yield utterance, stream.finish().text


def _padded(utterance: Utterance) -> Samples:
    quiet = np.zeros(LEAD, np.int16)
    return np.concatenate([quiet, utterance.samples[: utterance.end], quiet])


def _tool(ask: Ask, utterance: Utterance, text: str) -> str:
    calls = _calls(ask, utterance, text)
    return calls[0].name if calls else NO_TOOL


def _calls(ask: Ask, utterance: Utterance, text: str) -> tuple[Call, ...]:
    specs = [TOOLS[name] for name in AGENT_TOOLS[utterance.agent]]
    tools = tuple(Tool(s["name"], s["description"], s["parameters"]) for s in specs)
    turns = (Turn("system", INSTRUCTIONS[utterance.agent]), Turn("user", text))
    finished = ask(Request(turns, tools, copy_sources=(text,))) if text else None
    return finished.answer.calls if finished else ()
