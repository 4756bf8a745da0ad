"""Judges a call by what was recorded: measures it, and checks what must be true. Pure functions.

Times are measured where a caller hears: from the last sample of the caller's speech to the first
audible one of the agent's. A judgement is plain data, as in the scorecard's JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from voice.demo.turn_report import Received, of_type
from voice.demo.virtual_audio import AUDIBLE_ABOVE
from voice.prove import call
from voice.prove.call import Recording, Said, texts
from voice.prove.doors import arguments_of, is_call
from voice.prove.scenario import Expected, ExpectedCall, Take
from voice.prove.words import errors, plain, words

RATE_HZ = 24_000
DEAD_AIR_S = 2.0
"""A longer silence after the caller's words makes a caller ask whether anybody is there."""
CUT_MS = 100
"""An item was stopped if more than this much of it was not played."""
SLACK_WORDS = 3
"""By how many words a place in a reply's sound may differ from the same place in its text."""
OWNED = ("id", "agent", "caller")
"""Columns that every row has, and that say nothing about its content."""
TRANSCRIBED = "conversation.item.input_audio_transcription.completed"


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of what the agent said, and what was heard of it.

    Attributes:
        first_s: Time of its first audible sample; inf if nothing was audible.
        last_s: Time just past its last audible sample; -inf if nothing was audible.
        sent_ms: Length of the audio that was received.
        played_ms: Length of the audio that was played.
    """

    id: str
    text: str
    first_s: float
    last_s: float
    sent_ms: float
    played_ms: float

    @property
    def cut(self) -> bool:
        """Whether its playback was stopped early."""
        return self.sent_ms - self.played_ms > CUT_MS


@dataclass(frozen=True, slots=True)
class Made:
    """A call of a tool that the agent made."""

    name: str
    arguments: Mapping[str, Any]
    at_s: float
    failed: bool


def items(recording: Recording) -> list[Item]:
    """What the agent said, in the order of its audio."""
    told, found = texts(recording.events), []
    for item_id, samples in call.sent(recording.events).items():
        pieces = [piece for piece in recording.agent if piece.item_id == item_id]
        first_s, last_s = math.inf, -math.inf
        for piece in pieces:
            loud = np.flatnonzero(np.abs(piece.samples.astype(np.int32)) > AUDIBLE_ABOVE)
            if loud.size:
                first_s = min(first_s, piece.start_s + int(loud[0]) / RATE_HZ)
                last_s = max(last_s, piece.start_s + (int(loud[-1]) + 1) / RATE_HZ)
        played = sum(len(piece.samples) for piece in pieces)
        sent_ms, played_ms = 1000 * samples / RATE_HZ, 1000 * played / RATE_HZ
        found.append(Item(item_id, told.get(item_id, ""), first_s, last_s, sent_ms, played_ms))
    return found


def calls(events: Sequence[Received]) -> list[Made]:
    """The calls that were made, in order: those a server of ours ran and those for the client."""
    failed = {
        r.event["call_id"]
        for r in of_type(events, "quicksilver.tool_result")
        if r.event.get("error")
    }
    made = []
    for received in events:
        event = received.event
        if received.type == "quicksilver.tool_call":
            broken = event["call_id"] in failed
            made.append(Made(event["name"], event["arguments"], received.at_s, broken))
        elif received.type == "response.output_item.done":
            item = event["item"]
            if is_call(item):
                arguments = arguments_of(item)
                made.append(
                    Made(item["name"], arguments or {}, received.at_s, failed=arguments is None)
                )
    return made


def judge(take: Take, recording: Recording) -> dict[str, Any]:
    """The judgement of a call."""
    heard, made = items(recording), calls(recording.events)
    checks = [*_checks(take.scenario.expected, heard, made, recording)]
    wrong = {
        kind: [text for of, text in checks if of == kind] for kind in ("done", "once", "exact")
    }
    return {
        "id": take.id,
        "agent": take.agent,
        "scenario": take.name,
        "axis": take.axis,
        "value": take.value,
        "seed": take.seed,
        "caller": take.scenario.caller,
        "goal": take.scenario.goal,
        "behaviour": take.scenario.behaviour.model_dump(exclude_defaults=True),
        "passed": not wrong["done"] and not wrong["once"],
        "exactly_once": not wrong["once"],
        "calls_exact": not (wrong["done"] or wrong["once"] or wrong["exact"]),
        "wrong": [text for texts in wrong.values() for text in texts],
        "seconds": round(recording.seconds, 2),
        "turns": [
            _turn(said, recording, heard, made) for said in recording.said if _takes_turn(said)
        ],
        "over": [_over(said, recording, heard) for said in recording.said if said.kind != "line"],
        "agent_said": [
            {"text": item.text, "start_s": round(item.first_s, 3), "end_s": round(item.last_s, 3),
             "cut": item.cut}
            for item in heard if math.isfinite(item.first_s)
        ],
        "calls": [
            {"name": one.name, "arguments": dict(one.arguments), "at_s": round(one.at_s, 3),
             "failed": one.failed}
            for one in made
        ],
    }  # fmt: skip


def _takes_turn(said: Said) -> bool:
    return said.kind in ("line", "interruption")


def _turn(
    said: Said, recording: Recording, heard: Sequence[Item], made: Sequence[Made]
) -> dict[str, Any]:
    """Measures what followed something that the caller said and that wanted an answer."""
    until_s = min((s.start_s for s in recording.said if s.start_s > said.start_s), default=math.inf)
    begun_s = [*(item.first_s for item in heard), *(one.at_s for one in made)]
    behind = [i.first_s for i in heard if said.end_s <= i.first_s < until_s]
    answered_s = min(behind, default=None)
    # An answer that began before the caller's end and goes on is not silence.
    sounding = any(i.first_s < said.end_s < i.last_s for i in heard)
    waited_s = (min(until_s, recording.seconds) if answered_s is None else answered_s) - said.end_s
    transcripts = [
        str(r.event["transcript"])
        for r in of_type(recording.events, TRANSCRIBED)
        if said.start_s <= r.at_s < until_s
    ]
    meant, transcript = words(said.text), " ".join(transcripts).strip()
    return {
        "said": said.text,
        "kind": said.kind,
        "start_s": round(said.start_s, 3),
        "end_s": round(said.end_s, 3),
        "transcript": transcript,
        "words": len(meant),
        "word_errors": errors(meant, words(transcript)),
        "cut_off": any(said.start_s < at_s < said.end_s for at_s in begun_s),
        "voice_to_voice_ms": None if answered_s is None else round(1000 * waited_s),
        "dead_air_s": round(waited_s, 2) if waited_s > DEAD_AIR_S and not sounding else 0.0,
    }


def _over(said: Said, recording: Recording, heard: Sequence[Item]) -> dict[str, Any]:
    """Measures what became of the reply over which something was said."""
    talked = [i for i in heard if i.first_s <= said.start_s <= i.last_s]
    item = talked[-1] if talked else None
    told: dict[str, Any] = {
        "said": said.text,
        "kind": said.kind,
        "start_s": round(said.start_s, 3),
        "end_s": round(said.end_s, 3),
        "stopped": bool(item and item.cut),
        "silence_ms": None,
        "remembered": None,
        "unheard_words": 0,
    }
    if item is None or not item.cut:
        return told
    told["silence_ms"] = max(0, round(1000 * (item.last_s - said.start_s)))
    if (kept := recording.kept.get(item.id)) is not None:
        share = item.played_ms / item.sent_ms
        most = math.ceil(share * len(item.text.split())) + SLACK_WORDS
        told |= {"remembered": kept, "unheard_words": max(0, len(kept.split()) - most)}
    return told


def _checks(
    expected: Expected, heard: Sequence[Item], made: Sequence[Made], recording: Recording
) -> Iterator[tuple[str, str]]:
    """What is not as it must be: its kind ("done", "once" or "exact"), and a description."""
    if recording.error:
        yield "done", recording.error
    if recording.gave_up:
        yield "done", "the caller gave up: too many turns"
    done = [one for one in made if not one.failed]
    for want in expected.calls:
        count = sum(_is(want, one) for one in done)
        if count < want.times:
            others = (
                ", ".join(_shown(one) for one in made if one.name == want.tool) or "no call of it"
            )
            yield "done", f"called {count} of {want.times} times: {_wanted(want)}; got {others}"
    for tool in {want.tool for want in expected.calls}:
        most = sum(want.times for want in expected.calls if want.tool == tool)
        count = sum(one.name == tool for one in done)
        if count > most and tool not in expected.may_call:
            yield "once", f"{tool} ran {count} times; expected {most}"
    for one in made:
        if one.name in expected.must_not_call:
            yield "done", f"called {_shown(one)}, which it must not"
        elif one.name not in expected.may_call and not any(_is(w, one) for w in expected.calls):
            yield "exact", f"called {_shown(one)}, which nobody asked for"
    told = plain(call.heard(recording.events, recording.agent))
    for pattern in expected.must_say:
        if not re.search(pattern, told, re.IGNORECASE):
            yield "done", f"never said {pattern!r}"
    told = plain(" ".join(item.text for item in heard))
    for pattern in expected.must_not_say:
        if found := re.search(pattern, told, re.IGNORECASE):
            yield "done", f"said {found[0]!r}, which it must not"
    if recording.store is not None:
        yield from _store(expected, recording.store)


def _store(
    expected: Expected, store: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[tuple[str, str]]:
    for table, rows in expected.store.items():
        left = list(store.get(table, ()))
        # A row that fits fewer may have no other to take.
        for row in sorted(rows, key=lambda row: sum(_has(row, one) for one in left)):
            if fits := [one for one in left if _has(row, one)]:
                left.remove(fits[0])
            else:
                yield "done", f"{table} has no row of {row}"
        keys = {key for row in rows for key in row}
        for one in left:
            shown = {
                k: _text(k, v)
                for k, v in one.items()
                if k in keys or (not keys and v and k not in OWNED)
            }
            yield "once" if rows else "done", f"{table} has a row too many: {shown}"


def _has(row: Mapping[str, str], one: Mapping[str, Any]) -> bool:
    return all(_fits(pattern, name, one.get(name)) for name, pattern in row.items())


def _is(want: ExpectedCall, one: Made) -> bool:
    return one.name == want.tool and _has(want.arguments, one.arguments)


def _fits(pattern: str, name: str, value: object) -> bool:
    return re.fullmatch(pattern, _text(name, value), re.IGNORECASE) is not None


def _text(name: str, value: object) -> str:
    """A value in the form that patterns are matched against."""
    if name == "due" and isinstance(value, float):
        return f"{datetime.fromtimestamp(value):%A %H:%M}".lower()
    if isinstance(value, list):
        return " ".join(_text("", one) for one in value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return plain("" if value is None else str(value))


def _shown(one: Made) -> str:
    told = ", ".join(f"{name}={value!r}" for name, value in one.arguments.items())
    return f"{one.name}({told}){' failed' if one.failed else ''}"


def _wanted(want: ExpectedCall) -> str:
    told = ", ".join(f"{name}: {pattern}" for name, pattern in want.arguments.items())
    return f"{want.tool}({told})"
