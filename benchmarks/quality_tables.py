"""Tables of how good the shipped model is, from quality.json."""

from __future__ import annotations

from typing import Any

NAMES = {
    "own": "own tools, held-out phrasings",
    "others": "own tools, sentences of other authors",
    "noise": "own tools, through a bad recogniser",
    "renamed": "own tools under unseen names",
    "unseen": "unseen tools, for things that training never named",
    "opaque": "unseen tools whose parameters only descriptions tell apart",
    "services": "services of other people's dialogues",
    "coffee": "orders of other people's coffee dialogues",
    "parallel": "several calls in one turn",
    "spontaneous": "own tools, held-out phrasings in spontaneous speech",
    "at_length": "several drinks or errands at once, and short words about them",
    "going_on": "follow-ups and corrections",
    "interrupting": "follow-ups while the agent still speaks",
    "unasked": "own tools, requested in words that seem to refuse",
    "unasked_unseen": "unseen tools, requested in words that seem to refuse",
}
UNASKED = {
    "unasked": "own tools, named but not requested: no call",
    "unasked_unseen": "unseen tools, named but not requested: no call",
}
OTHER_NAMES = {
    "asking": "missing information",
    "out_of_scope": "out of scope",
    "talk": "small talk",
    "results": "results of unseen tools",
    "extraction": "JSON of a text",
}


def quality(told: dict[str, Any]) -> list[list[str]]:
    """Scores of the shipped model on cases that training never showed."""
    figures = told["figures"]
    rows = [["", "cases", "tool right", "tool and arguments right"]]
    for name, label in NAMES.items():
        scores = figures["sets"].get(name)
        if scores:
            cells = [f"{scores[key]:.1%}" for key in ("tool", "call")]
            rows.append([label, str(scores["call_cases"]), *cells])
    for label, cases, share in _other_shares(figures):
        rows.append([label, str(cases), "", f"{share:.1%}"])
    for label, value in _means(figures):
        rows.append([label, "", "", value])
    for kind, pace in figures["tokens_per_forward"].items():
        rows.append(
            [f"tokens per forward with the agents' own tools, {kind}", "", "", f"{pace:.2f}"]
        )
    return rows


def _other_shares(figures: dict[str, Any]) -> list[tuple[str, int, float]]:
    """Rows with one share only: label, number of cases, share."""
    sets, replies = figures["sets"], figures["replies"]
    found = [
        (
            "replies with the result's value and no invented one",
            replies["cases"],
            replies["grounded"],
        )
    ]
    if "coffee" in sets:
        coffee = sets["coffee"]
        found.append(
            ("slots of other people's coffee orders", coffee["call_cases"], coffee["slots"])
        )
    if "asking" in sets:
        found.append(
            ("asked back for what is missing", sets["asking"]["ask_cases"], sets["asking"]["ask"])
        )
    if "extraction" in sets:
        json = sets["extraction"]
        found.append(("JSON of a text, exact", json["exact_cases"], json["exact"]))
        found.append(("values of such JSON", json["exact_cases"], json["fields"]))
    if "out_of_scope" in figures:
        scope, cases = figures["out_of_scope"], sets["out_of_scope"]["decision_cases"]
        found.append(("out of scope, declined", cases, scope["recall"]))
        served = sum(sets[n]["call_cases"] for n in ("own", "others", "noise") if n in sets)
        found.append(("in scope, wrongly declined", served, scope["false_refusals"]))
    for name, label in UNASKED.items():
        if name in sets:
            found.append((label, sets[name]["talk_cases"], sets[name]["talk"]))
    if "results" in sets:
        label = "results of unseen tools: every value that was asked for, and no other"
        found.append((label, sets["results"]["told_cases"], sets["results"]["told"]))
    if "heard" in figures:
        real = figures["heard"]
        found.append(("recorded commands, intended tool", real["commands"], real["commands_heard"]))
        found.append(("slots of recorded orders", real["orders"], real["orders_slots_heard"]))
    if "talk" in sets:
        talk = sets["talk"]
        found.append(("small talk: a reply that fits", talk["fits_cases"], talk["fits"]))
        found.append(("small talk: no call", talk["talk_cases"], talk["talk"]))
    if "talk" in figures:
        openers = figures["talk"]
        bad = openers["empty"] + openers["loops"]
        found.append(("small talk: empty or looping replies", openers["openers"], bad))
    if "spans" in figures:
        spans = figures["spans"]
        bound = "own calls, arguments restricted to spans of the user's words"
        found.append((bound, spans["cases"], spans["call"]))
        free = "the same calls, arguments unrestricted"
        found.append((free, spans["cases"], spans["call_free"]))
    return found


def _means(figures: dict[str, Any]) -> list[tuple[str, str]]:
    """Figures that are not shares."""
    found = [("words in a reply with a result, mean", f"{figures['replies']['words']:.1f}")]
    perplexity = figures.get("talk", {}).get("perplexity")
    if perplexity is not None:
        found.append(("perplexity of held-out chat's next turns", f"{perplexity:.2f}"))
    return found


def draws(told: dict[str, Any]) -> list[list[str]]:
    """Shares of exact calls over further draws of the cases; the main table shows a single draw."""
    rows = [["tool and arguments right", "draws", "mean", "least", "most"]]
    for name, found in told["figures"]["draws"].items():
        shares = [f"{found[key]:.1%}" for key in ("mean", "least", "most")]
        rows.append([NAMES[name], str(len(found["call"])), *shares])
    return rows


def efforts(told: dict[str, Any]) -> list[list[str]]:
    """Quality and speed at each effort."""
    figures = told["figures"]
    paces = ("tokens per forward: calls", "tokens per forward: replies")
    durations = ("time of a call", "time of a reply", "time of 24 tokens of a reply")
    rows = [["effort", "exact calls", *paces, *durations]]
    for effort, pace in figures["speed"].items():
        right = figures.get("efforts", {}).get(effort)
        share = f"{right['call']:.1%}" if right else ""
        fast = [f"{pace[f'tokens_per_forward_{kind}']:.2f}" for kind in ("calls", "replies")]
        times = ("ms_calls", "ms_replies", "ms_24_tokens_replies")
        rows.append([effort, share, *fast, *(f"{pace[key]:.0f} ms" for key in times)])
    return rows


def failures(told: dict[str, Any]) -> list[list[str]]:
    """The first failure of each set."""
    rows = [["set", "the user says", "expected", "answer"]]
    for one in told["figures"]["failures"]:
        said = next((line for line in reversed(one["said"]) if line.startswith("user: ")), "")
        cells = [said.removeprefix("user: "), _words(one["wanted"]), _words(one["got"])]
        left_alone = UNASKED if isinstance(one["wanted"], str) else {}
        label = (NAMES | OTHER_NAMES | left_alone)[one["set"]]
        rows.append([label, *(cell.replace("|", "\\|") for cell in cells)])
    return rows


def _words(answer: Any) -> str:
    """An answer in readable form: the text in quotes, or calls in function notation."""
    if answer is None:
        return "something malformed"
    if isinstance(answer, str):
        return f"“{answer}”"
    calls = (
        f"{name}({', '.join(f'{key}: {value}' for key, value in given.items())})"
        for name, given in answer
    )
    return f"`{'; '.join(calls)}`"
