"""Short turns about what was just done: cancel both, put one thing in another's place.

Like those of `dlm.datagen.turns.basic`, each function writes one turn into a script, and returns
False if it does not fit what was said before. The words are in ``data/in_brief.toml``.
"""

from __future__ import annotations

from dlm.datagen.holdout import pick
from dlm.datagen.language.spontaneous import side
from dlm.datagen.language.tables import Lists, read
from dlm.datagen.own_tools.script import Script, call_of
from dlm.datagen.tools.world import Arguments
from dlm.datagen.turns.basic import request, said

_BRIEF = read("in_brief", Lists)
_THINGS = ("timer", "alarm", "reminder")
_ON_LIST = ("", "", "on (my|the) {list} list", "on (my|the) list")


def _say(script: Script, tool: str, options: tuple[str, ...], **filled: str) -> Arguments:
    return said(script, tool, pick(script.rng, options, script.split), **filled)


def _just_done(script: Script, *tools: str) -> Arguments | None:
    """The arguments of the last call if it was of one of these tools; else make such a call first.

    None if that call failed, or was not the only one of its message.
    """
    if script.last is None or script.last[0] not in tools:
        request(script, script.rng.choice(tools))
    return None if script.last is None or script.last[2].error else script.last[1]


def cancel_both(script: Script) -> bool:
    """The user has set two things, one of each kind, and wants both cancelled."""
    world, rng = script.world, script.rng
    if not script.last or script.last[0] not in ("set_timer", "set_alarm", "set_reminder"):
        for thing in rng.sample(_THINGS, 2):
            request(script, f"set_{thing}")
    counts = len(world.timers), len(world.alarms), len(world.reminders)
    known = [thing for thing, count in zip(_THINGS, counts, strict=True) if count == 1]
    if len(known) < 2 or any(f"cancel_{thing}" in script.forbidden for thing in known):
        return False
    last = script.last[0].removeprefix("set_") if script.last else ""
    things = [last, *(t for t in known if t != last)] if last in known else rng.sample(known, 2)
    if len(known) == 2 and rng.random() < 0.25:
        things = known
        _say(script, "cancel_alarm", _BRIEF["both"])
    else:
        names = [f"{rng.choice(('the', 'the', 'my', 'that'))} {thing}" for thing in things[:2]]
        if things[0] == last and rng.random() < 0.7:
            names[0] = rng.choice(("it", "that"))
        _say(script, "cancel_alarm", _BRIEF["cancels"], A=names[0], B=names[1])
    script.answer([(f"cancel_{thing}", {}) for thing in things[:2]])
    return True


def swap_items(script: Script) -> bool:
    """The user wants an item of a list replaced by another."""
    rng = script.rng
    if script.forbidden & {"add_to_list", "remove_from_list"}:
        return False
    known = script.last[1] if script.last and script.last[0] == "add_to_list" else {}
    options = _BRIEF["swap"] if rng.random() < 0.7 else _BRIEF["swap_late"]
    old = f"{{item={known['item'].lower()}}}" if known else "{item}"
    where = rng.choice(_ON_LIST)
    given = _say(script, "add_to_list", options, OLD=old, LIST=where)
    place = {k: v for k, v in (known | given).items() if k == "list"}
    script.answer([
        call_of("remove_from_list", place | {"item": given["item"]}),
        call_of("add_to_list", place | {"item": given["item2"]}),
    ])  # fmt: skip
    return True


def add_it(script: Script) -> bool:
    """The user asks whether something is on a list and, as it is not, has it added."""
    if script.forbidden & {"add_to_list", "read_list"}:
        return False
    given = _say(script, "read_list", _BRIEF["is_there"])
    place = {k: v for k, v in given.items() if k == "list"}
    script.answer([("read_list", place)])
    if script.last is None or given["item"].lower() in script.last[2].text.lower():
        return True
    _say(script, "add_to_list", _BRIEF["add_it"])
    script.answer([call_of("add_to_list", place | {"item": given["item"]})])
    return True


def clear_it(script: Script) -> bool:
    """The user wants to clear the list that was just spoken of."""
    before = _just_done(script, "add_to_list", "read_list", "remove_from_list")
    if before is None or "clear_list" in script.forbidden:
        return False
    _say(script, "clear_list", _BRIEF["clear"])
    script.answer([("clear_list", {k: v for k, v in before.items() if k == "list"})])
    return True


def all_off(script: Script) -> bool:
    """The user wants everything switched off, or on."""
    given = _say(script, "set_device", _BRIEF["all_off"])
    script.answer([call_of("set_device", given)])
    return True


def no_reminder(script: Script) -> bool:
    """The user no longer wants the reminder that was just set or changed."""
    before = _just_done(script, "set_reminder", "change_reminder")
    if before is None or "cancel_reminder" in script.forbidden:
        return False
    speaker = script.speaker("cancel_reminder")
    script.speak([side(speaker.words(_BRIEF["no_reminder"]))])
    script.answer([("cancel_reminder", {"text": before["text"]})])
    return True


def remind_at_last(script: Script) -> bool:
    """The user sets a reminder without a time, and then says when."""
    if script.forbidden & {"set_reminder", "change_reminder"}:
        return False
    noted = script.speak(script.worded("set_reminder", script.rng.choice(_BRIEF["note"])))
    script.answer([("set_reminder", noted)])
    if script.last is None or script.last[2].error:
        return True
    given = _say(script, "set_reminder", _BRIEF["at_last"])
    script.answer([call_of("change_reminder", noted | given)])
    return True


def cannot(script: Script) -> bool:
    """The user asks for what no tool does."""
    _say(script, "talk", _BRIEF["cannot"])
    script.settle(script.rng.choice(_BRIEF["cannot_say"]), "decline")
    return True
