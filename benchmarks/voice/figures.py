"""Pure functions that turn utterances and their outcomes into the figures of the results file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report import percentiles, share
from benchmarks.voice.corpus import NO_TOOL, PAUSES_MS, Utterance
from voice.demo.__main__ import STAGES
from voice.demo.turn_report import Turn
from voice.prove.words import errors, words

NETWORK_TOOLS = {"get_weather", "get_stock_price", "convert_currency"}


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """An utterance and the turn that came of it."""

    utterance: Utterance
    turn: Turn


def figures(said: Sequence[Said]) -> dict[str, Any]:
    """All figures of the utterances that have conversations of their own or share a demo's."""
    continuous = [s for s in said if s.utterance.plain]
    paused = [s for s in said if s.utterance.pause_ms]
    asked = [s for s in continuous if s.utterance.kind != "read"]
    kinds = sorted({s.utterance.kind for s in continuous})
    told: dict[str, Any] = {
        "all": timing(answered(asked)),
        "people": timing(answered(s for s in asked if s.utterance.kind != "demo")),
        "not_understood": timing(s for s in asked if not s.turn.transcript),
        "kinds": {k: summary([s for s in continuous if s.utterance.kind == k]) for k in kinds},
        "false_cutoffs": {
            "continuous": cutoffs(continuous),
            "any pause": cutoffs(paused),
            **{
                f"pause of {length_ms} ms": cutoffs(
                    [s for s in paused if s.utterance.pause_ms == length_ms]
                )
                for length_ms in PAUSES_MS
            },
        },
        "noise": by_noise(said),
        "turns": [row(s) for s in said],
    }
    if ordered := [s for s in continuous if s.utterance.kind == "order"]:
        told["order_slots"] = order_slots(ordered)
    return told


def timing(said: Iterable[Said]) -> dict[str, Any]:
    """Voice to voice, what follows the end-of-turn decision, and the stages, in ms."""
    turns = [s.turn for s in said if s.turn.status == "completed"]
    whole_ms = [t.voice_to_voice_ms for t in turns if t.voice_to_voice_ms is not None]
    after_ms = [t.after_commit_ms for t in turns if t.after_commit_ms is not None]
    return {
        "voice_to_voice_ms": percentiles(whole_ms),
        "end_of_turn_to_voice_ms": percentiles(after_ms),
        "stages_ms_after_speech": {
            mark: percentiles([t.marks_ms[mark] for t in turns if mark in t.marks_ms])
            for mark in STAGES
        },
    }


def answered(said: Iterable[Said]) -> list[Said]:
    """The turns whose times count: something was understood, and no tool needed the network.

    If nothing is understood, a fixed apology follows at once, without the model. Counting it would
    make the agent look fast for being deaf.
    """
    return [
        s
        for s in said
        if s.turn.transcript and not NETWORK_TOOLS & {use.name for use in s.turn.tools}
    ]


def cutoffs(said: Sequence[Said]) -> dict[str, Any]:
    """Utterances that the server took to be over before they were."""
    return share(sum(s.turn.early_commits > 0 for s in said), len(said))


def recognition(said: Iterable[Said]) -> dict[str, Any]:
    """Word error rate over all utterances whose words are known."""
    pairs = [(words(s.utterance.text), words(s.turn.transcript)) for s in said if s.utterance.text]
    return share(sum(errors(*pair) for pair in pairs), sum(len(text) for text, _ in pairs))


def tools(said: Iterable[Said]) -> dict[str, Any]:
    """Whether the intended tool was called, and how often one was called unasked."""
    known = [(s.utterance.tool, {use.name for use in s.turn.tools}) for s in said]
    meant = [(tool, used) for tool, used in known if tool]
    unasked = [used for tool, used in known if tool == NO_TOOL]
    return {
        "intended_called": share(sum(tool in used for tool, used in meant), len(meant)),
        "called_unasked": share(sum(bool(used) for used in unasked), len(unasked)),
    }


def order_slots(said: Iterable[Said]) -> dict[str, Any]:
    """How much of what the orders ask for is in the arguments of the calls."""
    asked = [(s.utterance.slots, _ordered(s.turn)) for s in said]
    right = [[_content(value) <= given for value in slots.values()] for slots, given in asked]
    drinks = [_content(slots["coffeeDrink"]) <= given for slots, given in asked]
    return {
        "drink_right": share(sum(drinks), len(drinks)),
        "slots_right": share(sum(map(sum, right)), sum(map(len, right))),
        "orders_all_right": share(sum(map(all, right)), len(right)),
    }


def _ordered(turn: Turn) -> set[str]:
    calls = [use for use in turn.tools if use.name == "order_drink"]
    return {word for use in calls for value in use.arguments.values() for word in words(str(value))}


def _content(slot: str) -> set[str]:
    return set(words(slot)) - {"a", "bit", "little", "lot", "lots", "of"}


def summary(said: Sequence[Said]) -> dict[str, Any]:
    """Everything about a group of utterances."""
    return {
        "utterances": len(said),
        "replied": sum(s.turn.status == "completed" for s in said),
        **timing(answered(said)),
        "false_cutoffs": cutoffs(said),
        "word_error_rate": recognition(said),
        **tools(said),
    }


def by_noise(said: Sequence[Said]) -> dict[str, Any]:
    """The same recordings at each ratio of speech to noise, the cleanest first."""
    noisy = [s for s in said if s.utterance.snr_db is not None]
    ratios = sorted({s.utterance.snr_db or 0 for s in noisy}, reverse=True)
    return {f"{db} dB": summary([s for s in noisy if s.utterance.snr_db == db]) for db in ratios}


def row(said: Said) -> dict[str, Any]:
    """An utterance's row in the results file."""
    turn = said.turn
    return {
        "name": said.utterance.name,
        "kind": said.utterance.kind,
        "pause_ms": said.utterance.pause_ms,
        "snr_db": said.utterance.snr_db,
        "said": said.utterance.text,
        "heard": turn.transcript,
        "intended": said.utterance.tool,
        "called": [{use.name: use.arguments} for use in turn.tools],
        "reply": turn.reply,
        "status": turn.status,
        "voice_to_voice_ms": _rounded(turn.voice_to_voice_ms),
        "end_of_turn_to_voice_ms": _rounded(turn.after_commit_ms),
        "early_commits": turn.early_commits,
    }


def _rounded(ms: float | None) -> int | None:
    return None if ms is None else round(ms)
