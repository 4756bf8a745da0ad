"""Turns of everyday messages: wrapped in a story, moved in a word, dropped by place, hinted at.

Like those of `dlm.datagen.turns.basic`, each function writes one turn into a script, and returns
False if it does not fit what was said before. The words are in ``data/everyday.toml``. Only
training has these turns, so that the held-out sets stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from dlm.datagen.holdout import pick
from dlm.datagen.language.phrases import Piece, is_order
from dlm.datagen.language.spoken_values import WEEKDAYS, duration, when
from dlm.datagen.language.spontaneous import SPEECH, change, joined, parted, side
from dlm.datagen.language.tables import read
from dlm.datagen.language.wording import WORDING
from dlm.datagen.own_tools.script import Script, call_of, calls_of, fitted, last_calls
from dlm.datagen.own_tools.simulated_tools import list_name
from dlm.datagen.turns.at_ease import UNDOING, several, undoing
from dlm.datagen.turns.basic import answer_all, compound, eased, is_question, joinable, request


@dataclass(frozen=True, slots=True)
class _Spoken:
    """Phrasings for some tools; the file's comments say what each kind of them is for."""

    tools: tuple[str, ...]
    say: tuple[str, ...]
    answers: tuple[str, ...] = ()
    give: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Everyday:
    stories: tuple[str, ...]
    story_asks: tuple[str, ...]
    scrap: tuple[str, ...]
    places: dict[str, tuple[str, ...]]
    move: tuple[str, ...]
    amend: dict[str, tuple[str, ...]]
    refused: tuple[str, ...]
    refused_answers: tuple[str, ...]
    together: tuple[_Spoken, ...]
    unasked: tuple[_Spoken, ...]
    hints: tuple[_Spoken, ...]


_TABLE = read("everyday", _Everyday)


def story(script: Script, tool: str) -> bool:
    """The user asks for something in the middle of a story."""
    if tool == "end_conversation":
        return False
    source = pick(script.rng, joinable(script, tool), script.split)
    asks = is_order(source) and script.rng.random() < 0.4
    frame = script.speaker(tool).words(_TABLE.story_asks if asks else _TABLE.stories)
    before, _, after = frame.partition("REQUEST")
    pieces = [side(before), *script.worded(tool, source), side(after)]
    return answer_all(script, [(tool, script.speak([p for p in pieces if p.text.strip()]))])


def _make(script: Script, *tools: str) -> None:
    """The user asks for one of some tools, if any of them is available."""
    offered = [tool for tool in tools if tool not in script.forbidden]
    if offered:
        request(script, script.rng.choice(offered))


def scrap(script: Script, tool: str) -> bool:
    """The user wants the last call undone, and something else done."""
    call = undoing(script)
    if call is None:
        _make(script, "set_timer", "set_alarm", "set_reminder")
        call = undoing(script)
    if call is None or tool in ("end_conversation", "forget_me", call[0]):
        return False
    source = pick(script.rng, joinable(script, tool), script.split)
    lead = side(script.speaker(tool).words(_TABLE.scrap))
    return answer_all(script, [call, (tool, script.speak([lead, *script.worded(tool, source)]))])


def by_place(script: Script) -> bool:
    """The user drops one of several things just made, by its place among them."""
    rng = script.rng
    tool = rng.choice(("set_timer", "set_alarm", "set_reminder", "add_to_list"))
    undo, key = UNDOING[tool]
    if script.forbidden & {tool, undo}:
        return False
    named = _named(script, tool, key)
    if len(named) < 2:
        several(script, tool)
        named = _named(script, tool, key)
    if not 2 <= len(named) <= 3:
        return False
    places = ["last"] if tool == "add_to_list" else ["first", "second", "third"][: len(named)]
    place = rng.choice([*places, "last"])
    chosen = named[-1 if place == "last" else places.index(place)]
    it = script.speaker(undo).words(_TABLE.places[place])
    said = script.speaker(undo).words(SPEECH["drops"], it=it)
    script.speak(eased(script, undo, [side(said)]))
    script.answer([call_of(undo, chosen)])
    return True


def _count(script: Script, tool: str) -> int:
    """How many things there are of the kind that a tool sets."""
    world = script.world
    if tool == "set_timer":
        return len(world.timers)
    return len(world.alarms if tool == "set_alarm" else world.reminders)


def _named(script: Script, tool: str, key: str) -> list[dict[str, str]]:
    """The things made by the last message with calls, if these are all and have different names."""
    calls = last_calls(script)
    made = [c["arguments"] for c in calls if c["name"] == tool]
    if len(made) != len(calls) or not made:
        return []
    if tool == "add_to_list":
        known = script.world.lists.get(list_name(made[-1]), [])
        ends = bool(known) and made[-1]["item"].endswith(known[-1])
        alike = len({list_name(one) for one in made}) == 1
        return made if ends and alike else []
    # A timer without a name is called by its length.
    named = [{key: one.get(key) or one["duration"]} for one in made]
    different = len({one[key] for one in named}) == len(named)
    return named if different and _count(script, tool) == len(named) else []


_MOVED = {
    "set_alarm": ("change_alarm", "to"), "change_alarm": ("change_alarm", "to"),
    "set_reminder": ("change_reminder", "when"), "change_reminder": ("change_reminder", "when"),
}  # fmt: skip


def move(script: Script) -> bool:
    """The user moves what was just set by some time, or to another day, in a few words."""
    if script.last is None or script.last[0] not in _MOVED:
        _make(script, "set_alarm", "set_reminder")
    if script.last is None:
        return False
    tool, before, result = script.last
    change_tool, key = _MOVED.get(tool, ("", ""))
    old = before.get("to") or before.get("when", "")
    shown = result.fields.get("when", "") if change_tool == "change_reminder" else old
    moment = when(shown.lower(), script.world.now) if shown else None
    if result.error or moment is None or not change_tool or change_tool in script.forbidden:
        return False
    new = _shift(script.rng)
    length = duration(new.rpartition(" ")[0])
    ahead = (moment - script.world.now).total_seconds()
    if length is not None and new.endswith("earlier") and length > ahead - 60:
        return False
    frames = _TABLE.move if length is not None else SPEECH["fix"]
    frames = tuple(frame for frame in frames if "{old}" not in frame)
    value = [Piece("on " if length is None and script.rng.random() < 0.3 else ""), Piece(new, key)]
    pieces = change(script.speaker(tool), frames, value, old, script.rng.choice(WORDING.refusals))
    given = script.speak(fitted(pieces))
    if change_tool == "change_reminder":
        given["text"] = before["text"]
    elif len(script.world.alarms) > 1:
        given["when"] = old
    script.answer([call_of(change_tool, given)])
    return True


def _shift(rng: Random) -> str:
    if rng.random() < 0.4:
        return rng.choice((*WEEKDAYS, "tomorrow", "the day after tomorrow"))
    length = rng.choice((
        "an hour", "half an hour", "ten minutes", "fifteen minutes", "twenty minutes", "two hours",
        "a quarter of an hour", "five minutes", "an hour and a half", "a couple of hours",
        "forty five minutes", "thirty minutes", "three hours",
    ))  # fmt: skip
    return f"{length} {rng.choice(('later', 'later', 'earlier'))}"


_AMENDED = {
    "set_timer": "change_timer", "set_alarm": "change_alarm", "set_reminder": "change_reminder",
}  # fmt: skip
_BESIDE = ("get_weather", "add_to_list", "set_device", "calculate", "get_time", "remove_from_list")


def amend(script: Script) -> bool:
    """The user asks for two things at once, and then wants one of them changed."""
    rng = script.rng
    tool = rng.choice(list(_AMENDED))
    change_tool, other = _AMENDED[tool], rng.choice(_BESIDE)
    if script.forbidden & {tool, change_tool, other}:
        return False
    compound(script, *rng.sample((tool, other), 2))
    made = [c["arguments"] for c in last_calls(script) if c["name"] == tool]
    if len(made) != 1 or (tool != "set_reminder" and _count(script, tool) != 1):
        return False
    source = pick(rng, _TABLE.amend[tool], script.split)
    given = script.speak(eased(script, change_tool, script.worded(change_tool, source)))
    text = {"text": made[0]["text"]} if tool == "set_reminder" else {}
    script.answer([call_of(change_tool, given | text)])
    return True


def together(script: Script) -> bool:
    """The user asks in one breath for two or three things that belong together."""
    found = script.rng.choice(_TABLE.together)
    if script.forbidden & set(found.tools):
        return False
    sources = pick(script.rng, found.say, script.split).split(" + ")
    parts = [script.worded(t, s) for t, s in zip(found.tools, sources, strict=True)]
    pieces = eased(script, found.tools[0], joined(script.rng, parts, ("",), ("",)))
    halves = parted(script.speak(pieces), len(parts))
    return answer_all(script, list(zip(found.tools, halves, strict=True)))


def unasked(script: Script) -> bool:
    """The user asks about what a tool does or does not want it done: nothing is called."""
    if not script.unasked:
        return False
    kinds = _TABLE.unasked
    found = script.rng.choices(kinds, [len(kind.say) for kind in kinds])[0]
    tools = [tool for tool in found.tools if tool not in script.forbidden]
    if not tools:
        return False
    source = pick(script.rng, found.say, script.split)
    pieces = [side(piece.text) for piece in script.worded(found.tools[0], source)]
    around = eased(script, found.tools[0], pieces) if script.rng.random() < 0.25 else pieces
    script.speak(around, source.endswith("?") or is_question(pieces))
    script.used.add(script.rng.choice(tools))
    script.settle(script.rng.choice(found.answers))
    return True


def hint(script: Script) -> bool:
    """The user only hints at a wish; the agent asks, and they say what they want or decline."""
    rng = script.rng
    found = rng.choice(_TABLE.hints)
    (tool,) = found.tools
    if tool in script.forbidden:
        return False
    script.speak([side(p.text) for p in script.worded(tool, pick(rng, found.say, script.split))])
    script.say(rng.choice(found.answers), "ask")
    script.used.add(tool)
    if rng.random() < 0.25:
        script.speak([side(rng.choice(_TABLE.refused))])
        script.settle(rng.choice(_TABLE.refused_answers))
        return True
    given = script.speak(script.worded(tool, pick(rng, found.give, script.split)))
    script.answer(calls_of(tool, given))
    return True
