"""Asking an engine from tests, and hearing all it says."""

from __future__ import annotations

import queue
from collections.abc import Sequence

from dlm.engine.engine import Engine, Event, Failed, Finished, Request, TextDelta
from dlm.language.messages import Call, Turn
from tests.dlm.tiny import TOOLS
from tests.support.patience import PATIENCE_S

SAID = "set a timer for ten minutes"
TIMER_CALL = Call("set_timer", {"duration": "ten minutes"})


def submit(engine: Engine, request: Request) -> queue.Queue[Event]:
    events: queue.Queue[Event] = queue.Queue()
    engine.submit(request, events.put)
    return events


def collected(events: queue.Queue[Event]) -> list[Event]:
    """Events up to the last."""
    out: list[Event] = []
    while not (out and isinstance(out[-1], Finished | Failed)):
        out.append(events.get(timeout=PATIENCE_S))
    return out


def ask(engine: Engine, request: Request) -> Finished:
    last = collected(submit(engine, request))[-1]
    assert isinstance(last, Finished), last
    return last


def failure(engine: Engine, request: Request) -> Exception:
    last = collected(submit(engine, request))[-1]
    assert isinstance(last, Failed)
    return last.error


def spoken(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def request(*turns: Turn | str, **options: object) -> Request:
    made = tuple(Turn("user", turn) if isinstance(turn, str) else turn for turn in turns)
    return Request(**{"turns": made, "tools": TOOLS, **options})  # type: ignore[arg-type]
