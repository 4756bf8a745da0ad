"""A scorecard as an HTML page in one file: no scripts, no external resources, light and dark."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from voice.prove.figures import FIGURES, Call, Difference, Figure, waits

WIDTH = 960
LANES = {"caller": 30, "agent": 58, "waits": 86}
BY_AXIS = (
    "task success", "word errors", "voice to voice, p50", "voice to voice, p95", "false cutoffs",
)  # fmt: skip
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --dim: #5c5c66; --paper: #fff; --line: #d0d0d8;
  --one: #1f5fbf; --two: #b3470f; --bad: #b00020; --good: #146c2e; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --dim: #a6a6b2; --paper: #16161a;
  --line: #3c3c46; --one: #7fb2ff; --two: #ffa066; --bad: #ff8a95; --good: #7ddc95; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } p.dim, caption, td small { color: var(--dim); }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.scrolls { overflow-x: auto; } svg { max-width: 100%; height: auto; } audio { width: 100%; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } .axis { stroke: var(--line); }
.one { fill: var(--one); } .two { fill: var(--two); } .wait { fill: var(--dim); }
.curve-one, .curve-two { fill: none; stroke: var(--one); stroke-width: 2; }
.curve-two { stroke: var(--two); stroke-dasharray: 6 3; } .bad { color: var(--bad); }
svg .bad { fill: var(--bad); } .good { color: var(--good); } summary { cursor: pointer; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
"""


def page(
    card: Mapping[str, Any],
    sounds: Mapping[str, bytes],
    other: Mapping[str, Any] | None,
    compared: Sequence[Difference],
) -> str:
    """The whole page.

    Args:
        card: The scorecard, as `voice.prove.figures.scorecard` makes it.
        sounds: Id of a conversation → an Ogg file.
        other: The scorecard to compare with, if any.
        compared: The differences between the two.
    """
    calls: Sequence[Call] = card["conversations"]
    passed = sum(call["passed"] for call in calls)
    parts = [
        f"<h1>Scorecard: {passed} of {len(calls)} conversations reached their goal</h1>",
        f'<p class="dim">{escape(card["server"])}, {escape(card["made"])}</p>',
        _summary(card),
        *(_beside(card, other, compared) if other else ()),
        "<h2>From the caller's last sound to the agent's first</h2>",
        _latencies(*(_both(card, other) if other else (calls, ()))),
        *_axes(card),
        "<h2>Conversations</h2>",
        *(part for call in calls for part in _conversation(call, sounds.get(call["id"]))),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Scorecard</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


def _table(heads: Sequence[str], rows: Iterable[str], caption: str = "") -> str:
    head = "".join(f"<th scope=col>{escape(one)}</th>" for one in heads)
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    table = f"<table>{told}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="scrolls">{table}</div>'


def _row(name: str, *cells: str) -> str:
    return f"<tr><th scope=row>{escape(name)}</th>{''.join(cells)}</tr>"


def _between(low: float | None, high: float | None) -> str:
    return f"({_number(low)} to {_number(high)})"


def _summary(card: Mapping[str, Any]) -> str:
    rows = [
        _row(f.name, _cell(value, f), f"<td class=number>{_between(low, high)}</td>")
        for f in FIGURES
        for value, low, high in [card["figures"][f.name]]
    ]
    caption = "In brackets, where 95% of bootstrap draws of the conversations lie"
    return _table(("figure", "value", "interval"), rows, caption)


def _both(card: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[list[Call], list[Call]]:
    """The conversations of two scorecards that are in both, as each has them."""
    sides = [{call["id"]: call for call in one["conversations"]} for one in (card, other)]
    ids = [name for name in sides[0] if name in sides[1]]
    this, others = ([side[name] for name in ids] for side in sides)
    return this, others


def _beside(
    card: Mapping[str, Any], other: Mapping[str, Any], compared: Sequence[Difference]
) -> Iterator[str]:
    shared, all_of_this, all_of_it = (
        len(some) for some in (_both(card, other)[0], card["conversations"], other["conversations"])
    )
    yield "<h2>Against another scorecard</h2>"
    yield f'<p class="dim">{escape(other["server"])}, {escape(other["made"])}. The {shared}'
    yield f"conversations that are in both (of {all_of_this} here and {all_of_it} there), drawn"
    yield "together. A difference with both signs in its interval is noise.</p>"
    rows = []
    for one in compared:
        better = {"higher": "high", "lower": "low"}.get(one.says)
        tone = "" if better is None else "good" if better == one.figure.good else "bad"
        says = f"<td><span class='{tone}'>{escape(one.says)}</span> {_between(*one.bounds)}</td>"
        cells = (_cell(one.other, one.figure), _cell(one.this, one.figure), says)
        rows.append(_row(one.figure.name, *cells))
    yield _table(("figure", "other", "this", "difference"), rows)


def _axes(card: Mapping[str, Any]) -> Iterator[str]:
    shown = [figure for figure in FIGURES if figure.name in BY_AXIS]
    for axis, values in card["axes"].items():
        yield f"<h2>By {escape(axis)}</h2>"
        yield _bars({value: figures["task success"] for value, figures in values.items()})
        rows = [
            _row(value, *(_cell(figures[f.name][0], f) for f in shown))
            for value, figures in values.items()
        ]
        yield _table(("", *(f.name for f in shown)), rows)


def _latencies(calls: Sequence[Call], others: Sequence[Call]) -> str:
    """A chart of the share of turns that were answered within a time."""
    width, height, most_ms = WIDTH - 60, 220, 3000
    drawn = [
        f'<line class="axis" x1="40" y1="{height}" x2="{40 + width}" y2="{height}"/>',
        *(
            f'<text x="{40 + width * at // most_ms}" y="{height + 18}">{at} ms</text>'
            for at in range(0, most_ms, 500)
        ),
        *(f'<text x="0" y="{height - height * at // 100 + 12}">{at}%</text>' for at in (50, 100)),
    ]
    for kind, some in (("two", others), ("one", calls)):
        waited = [ms for call in some for ms in waits(call)]
        times = sorted(ms for ms in waited if ms is not None)
        points = [(0.0, 0.0)]
        for count, ms in enumerate(times, start=1):
            points += [(ms, points[-1][1]), (ms, count / len(waited))]
        path = " ".join(
            f"{40 + width * min(ms, most_ms) / most_ms:.1f},{height * (1 - share):.1f}"
            for ms, share in points
        )
        drawn.append(f'<polyline class="curve-{kind}" points="{path}"/>' if times else "")
    beside = ", conversations in both, dashed: the other" if others else ""
    label = f"Share of turns answered within a time{beside}"
    return _svg(label, height + 26, drawn)


def _bars(values: Mapping[str, Sequence[float | None]]) -> str:
    drawn, left, width = [], 150, WIDTH - 260
    for number, (value, (share, low, high)) in enumerate(values.items()):
        y = 6 + 26 * number
        if share is None or low is None or high is None:
            continue
        drawn += [
            f'<text x="0" y="{y + 14}">{escape(value)}</text>',
            f'<rect class="one" x="{left}" y="{y}" width="{width * share / 100:.1f}" height="14"/>',
            f'<line class="axis" x1="{left + width * low / 100:.1f}" y1="{y + 18}" '
            f'x2="{left + width * high / 100:.1f}" y2="{y + 18}" stroke-width="3"/>',
            f'<text x="{left + width + 10}" y="{y + 13}">{share:.0f}%</text>',
        ]
    return _svg("Task success, with its interval below each bar", 26 * len(values) + 8, drawn)


def _conversation(call: Call, sound: bytes | None) -> Iterator[str]:
    mark = (
        '<span class="good">passed</span>' if call["passed"] else '<span class="bad">failed</span>'
    )
    yield f"<details><summary>{mark} {escape(call['id'])}: {escape(call['goal'])}</summary>"
    manner = ", ".join(f"{name} {value}" for name, value in call["behaviour"].items())
    yield f'<p class="dim">{escape(call["caller"])}. {escape(manner)}</p>'
    if call["wrong"]:
        wrong = "".join(f"<li>{escape(text)}</li>" for text in call["wrong"])
        yield f'<ul class="bad">{wrong}</ul>'
    if sound is not None:
        data = base64.b64encode(sound).decode("ascii")
        yield f'<audio controls preload="none" aria-label="{escape(call["id"])}"'
        yield f' src="data:audio/ogg;base64,{data}"></audio>'
    yield _time_line(call)
    rows = [
        f"<tr><td class=number>{at_s:.1f}</td><td>{who}</td><td>{what}</td></tr>"
        for at_s, who, what in sorted(_told(call), key=lambda row: row[0])
    ]
    yield _table(("s", "who", "what"), rows, "What was said and done") + "</details>"


def _told(call: Call) -> Iterator[tuple[float, str, str]]:
    for turn in call["turns"]:
        notes = [f"heard as: {turn['transcript'] or 'nothing'}"]
        notes += ["cut off"] if turn["cut_off"] else []
        notes += [f"dead air {turn['dead_air_s']} s"] if turn["dead_air_s"] else []
        ms = turn["voice_to_voice_ms"]
        notes.append("no answer" if ms is None else f"answered after {ms} ms")
        yield turn["start_s"], "caller", f"{escape(turn['said'])}<br>{_small(notes)}"
    for over in call["over"]:
        notes = [over["kind"], "the agent stopped" if over["stopped"] else "the agent went on"]
        notes += [] if over["silence_ms"] is None else [f"silent after {over['silence_ms']} ms"]
        notes += [f"keeps: {over['remembered']}"] if over["remembered"] is not None else []
        words = over["unheard_words"]
        notes += [f"{words} of these words were not heard"] if words else []
        yield (
            over["start_s"] + 0.001,
            "over it",
            f"{escape(over['said'] or 'cough')}<br>{_small(notes)}",
        )
    for said in call["agent_said"]:
        yield said["start_s"], "agent", escape(said["text"]) + (" …" if said["cut"] else "")
    for made in call["calls"]:
        told = f"{made['name']}({json.dumps(made['arguments'], ensure_ascii=False)})"
        yield (
            made["at_s"],
            "tool",
            f"<code>{escape(told)}</code>" + (" failed" if made["failed"] else ""),
        )


def _small(notes: Sequence[str]) -> str:
    return f"<small>{escape('; '.join(notes))}</small>"


def _time_line(call: Call) -> str:
    left, scale = 60, (WIDTH - 70) / max(1.0, call["seconds"])
    drawn = [f'<text x="0" y="{y + 12}">{lane}</text>' for lane, y in LANES.items()]

    def bar(kind: str, lane: str, start_s: float, end_s: float, title: str) -> str:
        width = max(1.0, scale * (end_s - start_s))
        at = f'x="{left + scale * start_s:.1f}" y="{LANES[lane]}" width="{width:.1f}" height="16"'
        return f'<rect class="{kind}" {at}><title>{escape(title)}</title></rect>'

    for turn in call["turns"]:
        drawn.append(bar("one", "caller", turn["start_s"], turn["end_s"], turn["said"]))
        if (ms := turn["voice_to_voice_ms"]) is not None:
            end_s = turn["end_s"] + ms / 1000
            drawn.append(bar("wait", "waits", turn["end_s"], end_s, f"answered after {ms} ms"))
    for over in call["over"]:
        drawn.append(bar("two", "caller", over["start_s"], over["end_s"], over["said"]))
    for said in call["agent_said"]:
        kind = "bad" if said["cut"] else "two"
        drawn.append(bar(kind, "agent", said["start_s"], said["end_s"], said["text"]))
    for made in call["calls"]:
        drawn.append(f'<text x="{left + scale * made["at_s"]:.1f}" y="{LANES["waits"] + 28}">'
                     f"{escape(made['name'])}</text>")  # fmt: skip
    step = 5 if call["seconds"] < 60 else 20
    drawn += [f'<text x="{left + scale * s:.1f}" y="14">{s} s</text>'
              for s in range(0, int(call["seconds"]), step)]  # fmt: skip
    return _svg("Time line: caller, agent, waits and tool calls", LANES["waits"] + 34, drawn)


def _svg(label: str, height: int, drawn: Sequence[str]) -> str:
    box = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return f'<svg role="img" aria-label="{escape(label)}" {box}>{"".join(drawn)}</svg>'


def _cell(value: float | None, figure: Figure) -> str:
    unit = "" if _number(value) == "–" else f" {figure.unit}"
    return f"<td class=number>{_number(value)}{unit}</td>"


def _number(value: float | None) -> str:
    return (
        "–" if value is None or math.isnan(value) else f"{value:.{1 if abs(value) < 100 else 0}f}"
    )
