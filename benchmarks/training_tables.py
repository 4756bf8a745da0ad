"""Tables about training: sizes and schedules, a new tool, 8-bit numbers, shares of dialogues."""

from __future__ import annotations

from typing import Any

from benchmarks.report import share_told


def recipes(told: dict[str, Any]) -> list[list[str]]:
    """Sizes and schedules at equal processor time, from recipes.json."""
    figures = told["figures"]
    heads = ("tokens seen", "held-out loss, causal", "denoising", "tool right")
    more = ("tool and arguments right", "tokens per forward, calls", "step of 16 positions, 8 bits")
    rows = [[f"{figures['minutes']:g} minutes of a core each", *heads, *more]]
    for name, one in sorted(figures["recipes"].items(), key=lambda pair: pair[1]["parameters"]):
        own = one["sets"]["own"]
        seen = f"{one['tokens'] / 1e6:.2f}M"
        losses = [f"{one[f'heldout_{kind}']:.2f}" for kind in ("causal", "denoising")]
        shares = [f"{own[kind]:.1%}" for kind in ("tool", "call")]
        fast = [f"{own['tokens_per_forward_calls']:.2f}", f"{one['step_ms']['p50']:.1f} ms"]
        rows.append([name, seen, *losses, *shares, *fast])
    return rows


_MESSAGES = {
    "calls": "exact calls",
    "talk": "no call where none is requested",
    "replies": "no call after a result",
}


def fine_tuning(told: dict[str, Any]) -> list[list[str]]:
    """The new tool and everything else, before and after, from fine_tuning.json."""
    figures = told["figures"]
    names = {
        "new_tool": "the new tool, held-out phrasings and plants",
        "rest": "the other tools",
        "rest_beside_new_tool": "the other tools, the new tool declared as well",
    }
    rows = [[f"{figures['training_s'] / 60:.1f} minutes of training", "before", "after"]]
    for key, name in names.items():
        for kind, label in _MESSAGES.items():
            cells = [share_told(figures[when][key][kind]) for when in ("before", "after")]
            rows.append([f"{name}: {label}", *cells])
    return rows


def number_formats(told: dict[str, Any]) -> list[list[str]]:
    """What 8 bits cost, from number_formats.json."""
    rows = [["", "weights", "tool right", "tool and arguments right", "same answer as float32"]]
    for name, way in told["figures"]["ways"].items():
        shares = [f"{way[kind]:.1%}" for kind in ("tool", "call")]
        rows.append(
            [name, f"{way['weights_mib']:.1f} MiB", *shares, share_told(way["same_answer"])]
        )
    return rows


_KINDS = {
    "assistant": "the assistant with its own tools",
    "coffee": "the barista with its own tools",
    "errands": "several errands at once, and short words about them",
    "drinks": "several drinks at once, and short words about them",
    "assistant_renamed": "the assistant's tools under other names and descriptions",
    "coffee_renamed": "the barista's tools under other names and descriptions",
    "errands_renamed": "such errands, with tools under other names and descriptions",
    "drinks_renamed": "such drinks, with tools under other names and descriptions",
    "invented": "invented tools, written by hand",
    "corpus": "orders of the coffee dialogues",
    "stranger": "composed tools, and intents of the corpora as tools",
    "results": "results of other tools, told and asked about",
    "talk": "small talk, sometimes followed by a request",
    "written": "functions called in writing, as developers ask for them",
    "extraction": "small texts, and what a schema asks for of them",
}


def shares(told: dict[str, Any]) -> list[list[str]]:
    """What the last run's dialogues consisted of, from training.json."""
    figures = told["figures"]
    rows = [["dialogues", "share"]]
    rows += [[_KINDS[kind], f"{share:.0%}"] for kind, share in figures["shares"].items()]
    rows.append(["of these, with reasoning before the answer", f"{figures['reasons']:.0%}"])
    rows.append(
        ["of all rows, single requests with one declared tool", f"{figures['readings']:.0%}"]
    )
    return rows
