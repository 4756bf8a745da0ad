"""Requests to do something, and how they end: done, differently, partly, later or not at all.

The tools are in ``data/results_deeds.toml``.
"""

from __future__ import annotations

import re
from random import Random

from dlm.datagen.language.spoken_values import WEEKDAYS
from dlm.datagen.language.spoken_values import clock as spoken_clock
from dlm.datagen.results.talk import Teller
from dlm.datagen.results.tools import Deed, Tool
from dlm.datagen.values.result_values import (
    WORDING,
    Row,
    Value,
    as_json,
    clock_at,
    failure_text,
    lowered,
    state,
)
from dlm.language.spoken_numbers import number

_SUCCESSES: tuple[tuple[str, str | int], ...] = (
    ("ok", True), ("success", True), ("status", "ok"), ("status", "success"), ("result", "done"),
    ("done", True), ("status", "completed"), ("code", 200),
)  # fmt: skip
_PARTS = (
    ("succeeded", "failed"),
    ("done", "errors"),
    ("ok", "not_done"),
    ("completed", "rejected"),
)


def carry_out(teller: Teller, tool: Tool, deed: Deed) -> None:
    """The user asks for a deed, which ends in one of the ways."""
    rng, roll = teller.rng, teller.rng.random()
    teller.heard = teller.ask(teller.pick(deed.say), deed)
    if roll < 0.2:
        _undone(teller, tool, deed)
    elif roll < 0.3:
        _pending(teller, tool, deed)
    elif roll < 0.6 and deed.changed:
        _changed(teller, tool, deed)
    elif roll < 0.65 and deed.parts:
        _partly(teller, tool, deed)
    else:
        _done(teller, tool, deed)
    if rng.random() < 0.2:
        teller.thank()


def _later(teller: Teller, deed: Deed, answer: str, **told: str) -> None:
    """Sometimes the user asks once more whether it was done."""
    if teller.rng.random() < 0.3:
        teller.ask(teller.pick(WORDING["done_already"]), deed)
        teller.tell(answer, **told)


def _done(teller: Teller, tool: Tool, deed: Deed) -> None:
    rng = teller.rng
    found: Row = dict([rng.choice(_SUCCESSES)])
    if deed.changed and rng.random() < 0.4:
        found |= _repeated(teller, deed)
    if deed.numbered and rng.random() < 0.4:
        given = str(rng.randint(1000, 99999))
        found[rng.choice(("id", "reference", "confirmation", "number", "booking_id"))] = given
        teller.call(tool, teller.heard, as_json(found, rng))
        teller.tell(teller.pick(deed.numbered), id=given)
    else:
        text = rng.choice(("ok", "OK", "success", "Done.", "true")) if rng.random() < 0.15 else ""
        teller.call(tool, teller.heard, text or as_json(found, rng))
        teller.tell(teller.pick(deed.done))
    _later(teller, deed, _confirmed(teller.pick(deed.done)))


def _repeated(teller: Teller, deed: Deed) -> Row:
    """The value that was asked for, as the result repeats it; empty if it cannot be read."""
    rng, slot = teller.rng, deed.changed[0]
    kind, asked = deed.slots[slot][0], teller.heard[slot]
    key = rng.choice(deed.slots[slot][1:])
    if kind == "day":
        return {key: asked}
    if kind == "clock":
        minutes = _minutes(asked)
        return {} if minutes is None else {key: clock_at(minutes, rng).raw}
    meant = number(asked)
    return {} if meant is None else {key: int(meant)}


def _pending(teller: Teller, tool: Tool, deed: Deed) -> None:
    rng = teller.rng
    value = state(teller.pick(WORDING["states"]), rng)
    key = rng.choice(("status", "state", "result"))
    found = {key: value.raw} if rng.random() < 0.6 else {"accepted": True, key: value.raw}
    teller.call(tool, teller.heard, as_json(found, rng))
    teller.tell(teller.pick(WORDING["pending"]), state=value.said)
    _later(teller, deed, "No, it's still {state}.", state=value.said)


def _undone(teller: Teller, tool: Tool, deed: Deed) -> None:
    rng = teller.rng
    why = rng.choice(deed.why)
    reasoned = rng.random() < 0.8
    teller.call(tool, teller.heard, failure_text(why if reasoned else "", rng))
    teller.tell(
        teller.pick(WORDING["undone_why" if reasoned else "undone"]),
        why=why, undone=deed.undone,
    )  # fmt: skip
    _later(teller, deed, "No, {undone}.", undone=deed.undone)


def _changed(teller: Teller, tool: Tool, deed: Deed) -> None:
    """The deed is done with another value than the one that was asked for."""
    rng = teller.rng
    slot, *replies = deed.changed
    kind, asked = deed.slots[slot][0], teller.heard[slot]
    value = _otherwise(kind, asked, rng)
    if value is None:
        _done(teller, tool, deed)
        return
    key = rng.choice(deed.slots[slot][1:])
    found = {**dict([rng.choice(_SUCCESSES)]), key: value.raw}
    teller.call(tool, teller.heard, as_json(found, rng))
    if kind == "day":
        # A day comes with its own "on"; whether it differs from "tomorrow" cannot be known.
        replies = [r.replace("for {new}", "{new}") for r in replies]
        named = asked.split()[-1].lower()
        known = named in WEEKDAYS and value.raw in map(str.title, WEEKDAYS)
        replies = replies if known else replies[:1]
    teller.tell(rng.choice(replies), new=value.said)
    _later(teller, deed, replies[-1] if len(replies) > 1 else replies[0], new=value.said)


def _partly(teller: Teller, tool: Tool, deed: Deed) -> None:
    rng = teller.rng
    good, bad = rng.sample([teller.heard[slot] for slot in deed.parts], 2)
    first, second = rng.choice(_PARTS)
    why, roll = rng.choice(deed.why), rng.random()
    if roll < 0.3:
        both = [good, bad]
        found: Row = {first: both, second: []} if roll < 0.15 else {first: [], second: both}
        teller.call(tool, teller.heard, as_json(found, rng))
        options = WORDING["partly_done" if roll < 0.15 else "partly_failed"]
        teller.tell(teller.pick(options), good=good, bad=bad)
        return
    reasoned = rng.random() < 0.6
    found = {first: [good], second: [{"name": bad, "reason": why} if reasoned else bad]}
    if rng.random() < 0.5:
        found = {"status": rng.choice(("partial", "partial_success", "incomplete")), **found}
    teller.call(tool, teller.heard, as_json(found, rng))
    options = WORDING["partly_why" if reasoned else "partly"]
    teller.tell(teller.pick(options), good=good, bad=bad, why=why)
    _later(teller, deed, "Only {good}, not {bad}.", good=good, bad=bad)


def _confirmed(sentence: str) -> str:
    """A sentence about what was done, as an answer to whether it was."""
    told = re.sub(r"^(?:Okay|Done), ", "", sentence)
    return f"Yes, {lowered(told)}"


def _otherwise(kind: str, asked: str, rng: Random) -> Value | None:
    """Another value than the one that was asked for; None if that cannot be read."""
    if kind == "day":
        named = rng.choice(WEEKDAYS).title()
        return None if named.lower() in asked.lower() else Value(named, f"on {named}")
    if kind == "clock":
        minutes = _minutes(asked)
        off = rng.choice((-90, -60, -30, -15, 15, 30, 30, 45, 60, 60, 90, 120))
        return None if minutes is None else clock_at(minutes + off, rng)
    meant = number(asked)
    if meant is None or meant % 1:
        return None
    other = max(1, int(meant) + rng.choice((-1, 1)) * rng.randint(1, 5))
    return None if other == meant else Value(other, str(other))


def _minutes(asked: str) -> int | None:
    """Minutes since midnight of a time of day as heard; None if it cannot be read."""
    found = spoken_clock(asked)
    if found is None:
        return None
    hour, minute, known = found
    return 60 * (hour if known or hour >= 12 else hour + 12) + minute
