"""Tables of how the agents handle messages that outsiders wrote."""

from __future__ import annotations

from typing import Any

from benchmarks.report import share_told

_WHO_READ = {"aside": "never read by the developers", "open": "read by the developers"}
"""Set of messages → its name in a table."""


def everyday(told: dict[str, Any]) -> list[list[str]]:
    """Verdicts on everyday messages, from everyday.json."""
    verdicts = ("right", "honestly declined", "wrong", "opposite")
    rows = [["messages", "number", *verdicts]]
    for name, label in {**_WHO_READ, "questions": "questions that no tool answers"}.items():
        one = told["figures"][name]
        cells = [f"{100 * one['by_kind']['all'][verdict]['rate']:.1f}%" for verdict in verdicts]
        rows.append([label, str(one["turns"]), *cells])
    return rows


def written(told: dict[str, Any]) -> list[list[str]]:
    """Outcomes of the messages of written conversations, from written.json."""
    outcomes = ("right", "asked", "undone", "wrong")
    rows = [["messages to", "number", *outcomes]]
    for name, label in _WHO_READ.items():
        for agent, found in told["figures"][name]["messages"].items():
            cells = [f"{100 * found[one]['rate']:.1f}%" for one in outcomes]
            who = "both agents" if agent == "all" else f"the {agent}"
            rows.append([f"{who}, {label}", str(found["right"]["of"]), *cells])
    return rows


def everyday_kinds(told: dict[str, Any]) -> list[list[str]]:
    """Verdicts on everyday messages by kind of conversation, over all sets."""
    verdicts = ("right", "honestly declined", "wrong", "opposite")
    rows = [["conversation", "messages", *verdicts]]
    sets = [one["by_kind"] for one in told["figures"].values()]
    for kind in sorted({kind for one in sets for kind in one} - {"all"}):
        found = [one[kind] for one in sets if kind in one]
        counts = [sum(one[verdict]["count"] for one in found) for verdict in verdicts]
        rows.append([kind.replace("_", " "), str(sum(counts)), *map(str, counts)])
    return rows


_OF_STRANGERS = {
    "request": "one call",
    "follow_up": "one call that follows from what was said before",
    "parallel": "several calls",
    "talk": "nothing called where nothing is to be",
    "reply": "what a tool returned told truly, in dialogues",
}


def strangers(told: dict[str, Any]) -> list[list[str]]:
    """Assistants, results and texts that outsiders invented, from strangers.json."""
    sets = [told["figures"][name] for name in _WHO_READ]
    rows = [["", *_WHO_READ.values()]]
    for kind, label in _OF_STRANGERS.items():
        rows.append([label, *(share_told(one["agents"]["kinds"][kind]) for one in sets)])
    for what, key, label in (
        ("results", "right", "results of other tools told truly and whole"),
        ("texts", "right", "texts read into a schema without a fault"),
        ("texts", "fields", "of the values of these texts"),
    ):
        rows.append([label, *(share_told(one[what][key]) for one in sets)])
    return rows


def moments(told: dict[str, Any]) -> list[list[str]]:
    """How many of the messages that need fixed words get them, from moments.json."""
    figures = told["figures"]
    kinds = list(next(iter(figures.values())))
    heads = [
        kind.replace("_", "-") if kind != "none" else "none of these, but taken for one"
        for kind in kinds
    ]
    rows = [["", *heads]]
    return rows + [
        [name, *(share_told(found[kind]) if kind in found else "" for kind in kinds)]
        for name, found in figures.items()
    ]
