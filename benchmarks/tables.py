"""Writes tables of the latest results into the documents: ``python -m benchmarks.tables``.

What stands between ``<!-- results: NAME -->`` and ``<!-- end -->`` in a document is generated from
the files in benchmarks/results. A test asserts that it is current: no figure is typed by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import message_tables, quality_tables, training_tables
from benchmarks.report import RESULTS, ROOT, percentiles, share_told
from voice.prove.figures import FIGURES

DOCUMENTS = (
    "README.md", "docs/model-card.md", "docs/turn-taking.md", "docs/training.md",
    "docs/fine-tuning.md", "docs/proving.md", "docs/teaching.md", "docs/scaling.md",
    "docs/operations.md",
)  # fmt: skip
TIMES = {
    "voice_to_voice_ms": "voice to voice",
    "end_of_turn_to_voice_ms": "end-of-turn decision to first audible sample",
}
DRAFTS = (
    "committed_as_it_stood", "revised", "thrown_away", "needless", "made_from_the_one_before",
    "forwards_per_turn", "forwards_discarded",
)  # fmt: skip
HALVES = ("tuning", "held out")
LANGUAGES = {"en": "English", "es": "Spanish", "fr": "French", "it": "Italian", "ru": "Russian"}
_BLOCK = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def latency(told: dict[str, Any]) -> list[list[str]]:
    """Voice to voice; only "every answer" has turns not understood or that used the network."""
    figures = told["figures"]
    rows = [["", "n", "p50", "p95"]]
    answered_ms = [
        turn["voice_to_voice_ms"]
        for turn in figures["turns"]
        if turn["kind"] != "read" and not turn["pause_ms"] and turn["snr_db"] is None
        if turn["voice_to_voice_ms"] is not None
    ]
    named = [("every answer", {"voice_to_voice_ms": percentiles(answered_ms)})]
    named += [("understood turns", figures["all"]), ("people alone", figures["people"])]
    named += [(f"{kind}s", t) for kind, t in figures["kinds"].items() if kind != "read"]
    held = next(iter(figures["drafting"].values()))
    for what, part in (("short requests", "calls"), ("orders in whole sentences", "ordering")):
        named += [(f"{n} at once, {what}", timing) for n, timing in held.get(part, {}).items()]
    for name, timing in named:
        whole = timing["voice_to_voice_ms"]
        if whole["n"]:
            cells = [str(whole["n"]), _ms(whole["p50"]), _ms(whole["p95"])]
            rows.append([f"voice to voice, {name}", *cells])
    after = figures["all"]["end_of_turn_to_voice_ms"]
    cells = [str(after["n"]), _ms(after["p50"]), _ms(after["p95"])]
    rows.append(["end-of-turn decision to first audible sample", *cells])
    silence = figures["barge_in"]["silence_ms"]
    if silence["n"]:
        cells = [str(silence["n"]), _ms(silence["p50"]), _ms(silence["p95"])]
        rows.append(["barge-in: first sample of speech to silence", *cells])
    return rows


def drafting(told: dict[str, Any]) -> list[list[str]]:
    """With drafts and without, and with several calls at once, from turns.json."""
    ways: dict[str, dict[str, Any]] = told["figures"].get("drafting", {})
    rows = [["", *(f"drafting {name}" for name in ways)]]
    if not ways:
        return rows
    for key, name in TIMES.items():
        rows.append([f"{name}, p50, p95", *(_pair(way[key]) for way in ways.values())])
    rows.append(["false cutoffs", *(share_told(way["false_cutoffs"]) for way in ways.values())])
    for calls in next(iter(ways.values()))["calls"]:
        held = [way["calls"].get(calls, {}) for way in ways.values()]
        times = [_pair(some.get("voice_to_voice_ms")) for some in held]
        rows.append([f"voice to voice, {calls} calls at once", *times])
    for key in DRAFTS:
        if all(key in way["drafts"] for way in ways.values()):
            cells = [_cell(way["drafts"][key]) for way in ways.values()]
            rows.append([f"drafts: {key.replace('_', ' ')}", *cells])
    return rows


def understanding(told: dict[str, Any]) -> list[list[str]]:
    """Recognition, tools and false cutoffs by kind, from turns.json."""
    figures = told["figures"]
    rows = [["", "utterances", "word errors", "intended tool called", "cut off early"]]
    for kind, group in figures["kinds"].items():
        rows.append(
            [
                kind,
                str(group["utterances"]),
                share_told(group["word_error_rate"]),
                share_told(group["intended_called"]),
                share_told(group["false_cutoffs"]),
            ]
        )
    for kind, cut in figures["false_cutoffs"].items():
        if kind.startswith("pause") and cut["of"]:
            rows.append([f"with a {kind}", str(cut["of"]), "", "", share_told(cut)])
    return rows


def noise(told: dict[str, Any]) -> list[list[str]]:
    """Recordings of people with noise around them, from turns.json."""
    heads = ("replied", "word errors", "intended tool called", "cut off early")
    rows = [["speech over noise", "utterances", *heads]]
    for ratio, group in told["figures"].get("noise", {}).items():
        replied = {"count": group["replied"], "of": group["utterances"]}
        replied["rate"] = replied["count"] / replied["of"]
        shares = (group["word_error_rate"], group["intended_called"], group["false_cutoffs"])
        cells = [share_told(share) for share in (replied, *shares)]
        rows.append([ratio, str(group["utterances"]), *cells])
    return rows


def talked_over(told: dict[str, Any]) -> list[list[str]]:
    """What sounds over the agent's speech do in whole calls, from turns.json."""
    figures = told["figures"]
    heads = ("stopped the agent", "time to silence, p50, p95", "history ends at the heard word")
    rows = [["sound over the agent's speech", "attempts", "counted", *heads]]
    groups = {"interruption of a reply": figures["barge_in"]}
    for kind, group in {**groups, **figures.get("while_the_agent_speaks", {})}.items():
        if "stopped" in group:
            cells = [share_told(group["stopped"]), _pair(group["silence_ms"])]
            kept = share_told(group["kept_to_the_word"])
            counts = (group["attempts"], group["stopped"]["of"])
            rows.append([kind, *map(str, counts), *cells, kept])
    if "reopened" in figures:
        gone = figures["reopened"]
        cells = ["", _pair(gone["silence_ms"]), f"nothing kept: {share_told(gone['nothing_kept'])}"]
        counts = (gone["attempts"], gone["nothing_kept"]["of"])
        rows.append(["the user goes on within 700 ms", *map(str, counts), *cells])
    return rows


def pareto(told: dict[str, Any]) -> list[list[str]]:
    """Voice to voice against false cutoffs over whole calls, from pareto.json."""
    rows = [["end of turn by", "cut off early", "voice to voice, mean", "p50, p95"]]
    for point in told["figures"]["points"]:
        if point["calls_at_once"] > 1:
            name = f"{point['rule']}, {point['setting']}"
            cells = [_ms(point["mean_ms"]), _pair(point["dead_air_ms"])]
            rows.append([name, share_told(point["false_cutoffs"]), *cells])
    return rows


def memory(told: dict[str, Any]) -> list[list[str]]:
    """The resident set over many turns, from memory.json."""
    figures = told["figures"]
    rows = [["", "resident memory", "of that, prompt cache"]]
    rows.append(["before the first turn", f"{figures['idle_mib']:.0f} MiB", ""])
    for turns, resident in figures["resident_mib"].items():
        cache = figures["prompt_cache_mib"][turns]
        rows.append([f"after {turns} turns", f"{resident:.0f} MiB", f"{cache:.0f} MiB"])
    if line := figures["second_half"]:
        slope, error = line["slope_kib_per_turn"], line["standard_error_kib_per_turn"]
        flat = "flat" if figures["flat"] else "not flat"
        name = f"growth per turn from turn {figures['second_half_from_turn']} on: {flat}"
        rows.append([name, f"{slope:.0f} ± {error:.0f} KiB", ""])
    return rows


def soak(told: dict[str, Any]) -> list[list[str]]:
    """Whether anything grew or leaked over hours of calls, from soak.json."""
    figures = told["figures"]
    rows = [["", ""], ["calls", str(sum(figures["calls"].values()))]]
    rows.append(["sound, either way", f"{figures['hours_of_sound']:.1f} hours"])
    if line := figures["second_half"]:
        slope, error = line["slope_kib_per_call"], line["standard_error_kib_per_call"]
        rows.append(["growth of the resident set a call", f"{slope:.1f} ± {error:.1f} KiB"])
    return [*rows, ["faults", "; ".join(figures["faults"]) or "none"]]


def footprint(told: dict[str, Any]) -> list[list[str]]:
    """Start-up and memory, from footprint.json."""
    figures = told["figures"]
    return [
        ["", ""],
        ["start to first answer of /healthz, median", f"{figures['start_s']['p50']} s"],
        ["resident memory of the idle server", f"{figures['idle_mib']:.0f} MiB"],
        ["one call adds", f"{figures['one_call_adds_mib']:.0f} MiB"],
    ]


def features(told: dict[str, Any]) -> list[list[str]]:
    """What features cost a server that uses none of them, from footprint.json."""
    figures = told["figures"]
    rows = [["feature", "modules", "start", "memory"]]
    costs = figures.get("features", {})
    for name, cost in costs.items():
        s, mib = cost["cpu_s"], cost["mib"]
        shares = s / figures["start_s"]["p50"], mib / figures["idle_mib"]
        cells = [f"{s * 1000:.0f} ms, {shares[0]:.1%}", f"{mib:.1f} MiB, {shares[1]:.1%}"]
        rows.append([name, f"{cost['modules']:.0f}", *cells])
    return rows


def said_words(told: dict[str, Any]) -> list[list[str]]:
    """How far off the times of a caller's words are, from said_words.json."""
    rows = [["", "words", "found by the recogniser, p50, p95", "estimated, p50, p95"]]
    for band, found in told["figures"]["errors_ms"].items():
        cells = [_pair(found[name]) for name in ("recogniser", "estimate")]
        rows.append([band, str(found["recogniser"]["n"]), *cells])
    return rows


def ordering(told: dict[str, Any]) -> list[list[str]]:
    """Callers who order in whole sentences, several at once, from turns_ordering.json."""
    rows = [["calls at once", "turns", "answered", "cut off early", "voice to voice, p50, p95"]]
    for calls, held in next(iter(told["figures"]["drafting"].values()))["ordering"].items():
        counts = [str(held[key]) for key in ("turns", "replied")]
        times = _pair(held["voice_to_voice_ms"])
        rows.append([calls, *counts, share_told(held["false_cutoffs"]), times])
    return rows


def ears(told: dict[str, Any]) -> list[list[str]]:
    """Recordings of people heard by whole sessions, by half and condition, from ears.json."""
    halves = {half: told["figures"][half] for half in HALVES if half in told["figures"]}
    conditions = list(dict.fromkeys(name for half in halves.values() for name in half))
    rows = [["recordings", *conditions]]
    for half, found in halves.items():
        for kind, key, name in (
            ("close by", "done", "said close by, done"),
            ("noisy command", "done", "noisy commands, done"),
            ("command", "word_errors", "commands, words wrong"),
            ("noisy command", "word_errors", "noisy commands, words wrong"),
            ("read", "word_errors", "read, words wrong"),
        ):
            groups = [found.get(condition, {}).get(kind) for condition in conditions]
            cells = [share_told(group[key]) if group else "" for group in groups]
            if any(cells):
                rows.append([f"{half}: {name}", *cells])
    return rows


def decodes(told: dict[str, Any]) -> list[list[str]]:
    """What transcripts cost, and which words appear where nobody speaks, from decodes.json."""
    agents = {name: told["figures"][name] for name in ("assistant", "coffee")}
    rows = [["", *agents]]
    for length in next(iter(agents.values()))["decode_ms"]:
        times = (_pair(one["decode_ms"][length]) for one in agents.values())
        rows.append([f"processor's time, {length}: p50, p95", *times])
    partials = [one["partials"] for one in agents.values()]
    apart = (_pair(one["apart_ms"]) for one in partials)
    rows.append(["speech between two interim transcripts: p50, p95", *apart])
    shares = (f"{100 * one['share_of_one_core']:.0f}%" for one in partials)
    rows.append(["interim transcripts, share of one core while somebody speaks", *shares])
    for sound in next(iter(agents.values()))["nobody_speaks"]:
        found = [one["nobody_speaks"][sound] for one in agents.values()]
        for key, name in (("written", "words are written"), ("repeated", "that repeat themselves")):
            rows.append([f"{sound}, clips: {name}", *(share_told(one[key]) for one in found)])
    return rows


def languages(told: dict[str, Any]) -> list[list[str]]:
    """How well the multilingual recogniser hears other languages, from languages.json."""
    rows = [["", "said in it, heard as it", "asked for English", "words misheard, language told"]]
    rows[0] += ["by ear", "sentences all right"]
    for code, name in LANGUAGES.items():
        one = told["figures"][code]
        wrong = one["word_error_rate"]
        cells = (one["language_named"], one["asked_for_english"], wrong["told"], wrong["by ear"])
        rows.append([name, *map(share_told, (*cells, one["sentences_exact"]))])
    return rows


def voices(told: dict[str, Any]) -> list[list[str]]:
    """How well and how evenly the voices speak, from voices.json."""
    found = {name: one for name, one in told["figures"].items() if isinstance(one, dict)}
    rows = [["", *(f"{name}, {one['replies']} replies" for name, one in found.items())]]
    for band, name in (("wide_band", "words misheard"), ("telephone", "by telephone")):
        rows.append([name, *(share_told(one["word_error_rate"][band]) for one in found.values())])
    first = (_pair(one["first_chunk_cpu_ms"]) for one in found.values())
    rows.append(["processor's time to the first sound: p50, p95", *first])
    levels = (one["level_dbfs"] for one in found.values())
    rows.append(["level", *(f"{one['mean']} ± {one['sd']} dBFS" for one in levels)])
    rows.append(["highest peak", *(f"{one['peak_dbfs']} dBFS" for one in found.values())])
    rows.append(["clipped samples", *(str(one["clipped_samples"]) for one in found.values())])
    return rows


def cluster(told: dict[str, Any]) -> list[list[str]]:
    """What replicas bring, from cluster.json."""
    rows = [["", "turns a second", "processor time a turn", "voice to voice, p50 and p95"]]
    for shape, one in told["figures"]["shapes"].items():
        taken = f"{one['processor_s_per_turn']['all']:.2f} s"
        rows.append([shape, str(one["turns_per_s"]), taken, _pair(one["voice_to_voice_ms"])])
    return rows


def ten_thousand_calls(told: dict[str, Any]) -> list[list[str]]:
    """What 10,000 calls would need if each took as much as the one measured in cluster.json."""
    one = told["figures"]["shapes"]["one of each"]
    rows = [["part", "cores of a call", "of 10,000 calls", "resident memory of a replica"]]
    for part, cores in one["cores_of_a_call"].items():
        memory = one["resident_mib"].get(part)
        cells = [f"{cores:.3f}", f"{10_000 * cores:.0f}", "" if memory is None else f"{memory} MiB"]
        rows.append([part, *cells])
    return rows


def first_minutes(told: dict[str, Any]) -> list[list[str]]:
    """From a clone to the first answer, from first_minutes.json."""
    kinds = {"empty_cache": "pip's cache empty", "with_cache": "the second time"}
    runs = {
        f"{commit}, {name}": found[kind]
        for commit, found in told["figures"].items()
        for kind, name in kinds.items()
    }
    rows = [["`make run` in a new clone", *runs]]
    for key, name, unit in (
        ("page_answers_s", "until the page answers", "s"),
        ("first_answer_heard_s", "until the first answer is heard", "s"),
        ("installed_mb", "on the disk", "MB"),
    ):
        rows.append([name, *(f"{run[key]:.0f} {unit}" for run in runs.values())])
    fetched = (run["downloaded_mb"] + run["from_this_machine_mb"] for run in runs.values())
    return [*rows, ["packages fetched", *(f"{megabytes:.0f} MB" for megabytes in fetched)]]


def decoding(told: dict[str, Any]) -> list[list[str]]:
    """Ways of decoding with the same weights, from decoding.json."""
    kinds = {"replies": "replies", "calls": "tool calls"}
    heads = ("tokens per forward", "times as fast", "same answer")
    rows = [["", *(f"{label}: {head}" for label in kinds.values() for head in heads)]]
    figures = told["figures"]
    for way in figures["replies"]:
        cells = []
        for kind in kinds:
            one = figures[kind][way]
            speed = f"{one['speed']:.2f}"
            cells += [f"{one['tokens_per_forward']:.2f}", speed, share_told(one["agreement"])]
        rows.append([way.replace("_", " "), *cells])
    return rows


def endings(told: dict[str, Any]) -> list[list[str]]:
    """Each profile's dead air and false cutoffs on both halves, from endpointing.json."""
    heads = ("dead air p50, p95", "recordings cut off", "the same with a pause put in")
    rows = [["profile", "half", *heads]]
    halves = told["figures"]["halves"]
    for rule in halves["tuning"]:
        for half, found in halves.items():
            cuts = ("false_cutoffs", "false_cutoffs_with_pauses")
            cells = [share_told(found[rule][cut]) for cut in cuts]
            rows.append([rule, half, _pair(found[rule]["dead_air_ms"]), *cells])
    return rows


def dead_air(told: dict[str, Any]) -> list[list[str]]:
    """The least mean dead air for each allowed share of turns cut off, from endpointing.json."""
    figures = told["figures"]
    found, over_all = (
        part.get("least_dead_air_within_false_cutoffs", {})
        for part in (figures, figures.get("cross_fitted", {}))
    )
    budgets = list(next(iter(found.values())))
    heads = [f"at most {budget} cut off" for budget in budgets]
    rows = [["mean (median) dead air", "recordings", *heads]]
    for which, rules in (("held out", found), ("all, cross-fitted", over_all)):
        for rule, at in rules.items():
            cells = [f"{_ms(p['mean_ms'])} ({_ms(p['p50_ms'])})" if p else "" for p in at.values()]
            rows.append([rule, which, *cells])
    if over_all:
        ratios = figures["cross_fitted"]["ratio"]
        cells = [_with_interval(ratios[budget]) for budget in budgets]
        rows.append(["ratio of the two (95% interval)", "all, cross-fitted", *cells])
    return rows


def opinion(told: dict[str, Any]) -> list[list[str]]:
    """How well whole messages are told from their beginnings, from opinion.json."""
    found = told["figures"]["told_apart"]
    keys = list(next(iter(found.values())))
    heads = (key.replace("_", " ") for key in keys)
    rows = [["judged by", *heads]]
    for name, judged in found.items():
        rows.append([name, *(f"{100 * judged[key]:.1f}%" for key in keys)])
    return rows


def interruptions(told: dict[str, Any]) -> list[list[str]]:
    """What stops the agent, from interruptions.json."""
    heads = ("stopped the agent", "of held-out voices", "time until sound is held, p50, p95")
    rows = [["heard while the agent speaks", *heads]]
    for kind, group in told["figures"].items():
        held = f"{_ms(group['held_after_ms']['p50'])}, {_ms(group['held_after_ms']['p95'])}"
        rows.append(
            [kind, share_told(group["stopped"]), share_told(group["stopped_held_out"]), held]
        )
    return rows


def proving(told: dict[str, Any]) -> list[list[str]]:
    """The scorecard by agent, from proving.json."""
    agents = told["figures"]["agents"]
    rows = [["", *(f"{name}, {one['conversations']} callers" for name, one in agents.items())]]
    for figure in FIGURES:
        values = [one["figures"][figure.name] for one in agents.values()]
        if any(value[0] is not None for value in values):
            rows.append([figure.name, *(_bounded(value, figure.unit) for value in values)])
    return rows


def unproved(told: dict[str, Any]) -> list[list[str]]:
    """The conversations that failed, and what was wrong in them, from proving.json."""
    rows = [["conversation", "what was wrong"]]
    for one in told["figures"]["agents"].values():
        for name, wrong in one["failed"].items():
            rows.append([f"`{name}`", "; ".join(wrong).replace("|", "/")])
    return rows


def teach(told: dict[str, Any]) -> list[list[str]]:
    """Lists of tools before and after they were taught, from teach.json."""
    kinds = {
        "exact": "exact calls",
        "tool": "the right tool",
        "quiet": "no call where none is asked for",
    }
    lists, before = told["figures"]["lists"], told["figures"]["shipped"]
    rows = [["", *(f"{name}, {when}" for name in lists for when in ("before", "after"))]]
    for kind, name in kinds.items():
        values = [one[when][kind] for one in lists.values() for when in ("before", "after")]
        rows.append([name, *(f"{100 * share:.0f}% of {count}" for share, count in values)])
    for name, found in before.items():
        key = "call" if "call" in found else "decision"
        values = [sets[name][key] for one in lists.values() for sets in (before, one["shipped"])]
        of_set = (quality_tables.NAMES | quality_tables.OTHER_NAMES)[name]
        label = f"what the model could do: {of_set}, {found[f'{key}_cases']} cases"
        rows.append([label, *(f"{100 * share:.1f}%" for share in values)])
    return rows


TABLES: dict[str, tuple[str, Callable[[dict[str, Any]], list[list[str]]]]] = {
    "latency": ("turns", latency),
    "endings": ("endpointing", endings),
    "dead_air": ("endpointing", dead_air),
    "opinion": ("opinion", opinion),
    "interruptions": ("interruptions", interruptions),
    "drafting": ("turns", drafting),
    "ordering": ("turns_ordering", ordering),
    "understanding": ("turns", understanding),
    "ears": ("ears", ears),
    "decodes": ("decodes", decodes),
    "languages": ("languages", languages),
    "voices": ("voices", voices),
    "noise": ("turns", noise),
    "talked_over": ("turns", talked_over),
    "pareto": ("pareto", pareto),
    "memory": ("memory", memory),
    "soak": ("soak", soak),
    "footprint": ("footprint", footprint),
    "features": ("footprint", features),
    "said_words": ("said_words", said_words),
    "cluster": ("cluster", cluster),
    "ten_thousand_calls": ("cluster", ten_thousand_calls),
    "first_minutes": ("first_minutes", first_minutes),
    "quality": ("quality", quality_tables.quality),
    "draws": ("quality", quality_tables.draws),
    "efforts": ("quality", quality_tables.efforts),
    "failures": ("quality", quality_tables.failures),
    "shares": ("training", training_tables.shares),
    "decoding": ("decoding", decoding),
    "recipes": ("recipes", training_tables.recipes),
    "fine_tuning": ("fine_tuning", training_tables.fine_tuning),
    "proving": ("proving", proving),
    "unproved": ("proving", unproved),
    "teach": ("teach", teach),
    "everyday": ("everyday", message_tables.everyday),
    "written": ("written", message_tables.written),
    "moments": ("moments", message_tables.moments),
    "everyday_kinds": ("everyday", message_tables.everyday_kinds),
    "strangers": ("strangers", message_tables.strangers),
    "number_formats": ("number_formats", training_tables.number_formats),
}


def render(name: str, results: Path = RESULTS) -> str:
    """A table in Markdown, and a line about the run that it comes from."""
    file, rows_of = TABLES[name]
    told = json.loads((results / f"{file}.json").read_text(encoding="utf-8"))
    header, *rows = rows_of(told)
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join(f"| {' | '.join(row)} |" for row in lines)
    machine = told["machine"]
    where = f"{machine['cores']} cores of {machine['cpu']}"
    if machine.get("instructions"):
        where += f" with {machine['instructions']}"
    return (
        f"{table}\n\n`{told['command']}`, {told['date'][:10]}, commit {told['commit']}, {where}.\n"
    )


def filled(text: str, results: Path = RESULTS) -> str:
    """A document with its tables generated anew; those without results stay as they are."""

    def made(block: re.Match[str]) -> str:
        known = (results / f"{TABLES[block[2]][0]}.json").is_file()
        return f"{block[1]}{render(block[2], results)}{block[3]}" if known else block[0]

    return _BLOCK.sub(made, text)


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"


def _pair(timing: dict[str, Any] | None) -> str:
    return f"{_ms(timing['p50'])}, {_ms(timing['p95'])}" if timing and timing["n"] else ""


def _cell(value: dict[str, Any] | float | None) -> str:
    """A share, or a plain number."""
    if isinstance(value, dict):
        return share_told(value)
    return "" if value is None else f"{value:.1f}"


def _bounded(figure: list[float | None], unit: str) -> str:
    """A figure with the bounds of its interval, if known; empty where there is no figure."""
    value, low, high = figure
    if value is None:
        return ""
    bounds = f" ({low:.0f} to {high:.0f})" if low is not None and high is not None else ""
    return f"{value:.0f}{'%' if unit == '%' else f' {unit}'}{bounds}"


def _with_interval(found: dict[str, Any]) -> str:
    """A ratio with its interval; an unknown end is shown as "…"."""
    if found["ratio"] is None:
        return ""
    low, high = ("…" if end is None else f"{end:.2f}" for end in (found["low"], found["high"]))
    return f"{found['ratio']:.2f} ({low} to {high})"


def main() -> int:
    """Write the tables into the documents; with ``--check`` only report which are out of date."""
    stale = []
    for name in DOCUMENTS:
        document = ROOT / name
        old = document.read_text(encoding="utf-8")
        new = filled(old)
        if new != old:
            stale.append(name)
            if "--check" not in sys.argv:
                document.write_text(new, encoding="utf-8")
    print(f"changed: {', '.join(stale) or 'nothing'}")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
