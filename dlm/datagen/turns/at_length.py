"""Turns of long orders: several drinks at once, and short remarks about them afterwards.

Like those of `dlm.datagen.turns.basic`, each function writes one turn into a script, and returns
False if it does not fit what was said before.
"""

from __future__ import annotations

from dlm.datagen.holdout import pick
from dlm.datagen.language.phrases import fill
from dlm.datagen.language.spontaneous import joined, parted, unclosed
from dlm.datagen.own_tools.script import Script, call_of, last_calls
from dlm.datagen.tools.world import Arguments
from dlm.datagen.turns.basic import answer_all, eased, said
from dlm.datagen.turns.drink_groups import (
    GROUPS,
    compose_description,
    compose_drink,
    compose_groups,
    said_again,
)

_DETAILS = ("size", "milk", "roast", "shots", "sweetener", "extras")


def drinks(script: Script) -> bool:
    """The customer orders one to five drinks at once, and may say that this is all."""
    rng = script.rng
    parts = [said_again(script.worded("order_drink", compose_groups(rng, script.split)))]
    tools = ["order_drink"]
    if rng.random() < 0.1 and "confirm_order" not in script.forbidden:
        done = pick(rng, GROUPS["done"], script.split)
        parts = [unclosed(parts[0]), script.worded("confirm_order", done)]
        tools.append("confirm_order")
    pieces = eased(script, "order_drink", joined(rng, parts, ("",), ("", ",", "and")))
    halves = parted(script.speak(pieces), len(parts))
    return answer_all(script, list(zip(tools, halves, strict=True)))


def drink(script: Script) -> bool:
    """The customer orders a drink with few details, to which more can be added."""
    given = said(script, "order_drink", compose_drink(script.rng, script.split))
    return answer_all(script, [("order_drink", given)])


def describe(script: Script) -> bool:
    """The customer adds details to the last drink without naming it, which changes it."""
    if script.last is None or script.last[0] not in ("order_drink", "change_drink"):
        return False
    drink = script.last[1]["drink"]
    found = [one for one in script.world.order if one["drink"] == drink]
    lacking = [k for k in _DETAILS if found and k not in found[-1]]
    if script.last[2].error or not lacking:
        return False
    given = said(script, "change_drink", compose_description(script.rng, script.split, lacking))
    return _change(script, [{"drink": drink} | given])


def adjust(script: Script) -> bool:
    """The customer changes several of the drinks just ordered, or one of several equal ones."""
    known = just_ordered(script)
    rng = script.rng
    several = [a["drink"] for a in known if "quantity" in a]
    if several and rng.random() < 0.3:
        return _adjust_one(script, rng.choice(several))
    if len(known) < 2:
        return False
    names = [a["drink"] for a in known]
    if rng.random() < 0.45:
        first, second = rng.sample(names, 2)
        source = pick(rng, GROUPS["each"], script.split)
        key = rng.choice(("size", "size", "milk", "roast"))
        filled = {"A": _drink(first), "B": _drink(second, "2")}
        filled |= {"S": _detail(key), "T": _detail(key, "2")}
        given = said(script, "change_drink", source, **filled)
        halves = [{k: given[k + end] for k in ("drink", key)} for end in ("", "2")]
        return _change(script, halves)
    return _adjust_all(script, names)


def _adjust_all(script: Script, names: list[str]) -> bool:
    rng = script.rng
    key = rng.choice(("size", "size", "roast", "milk"))
    source = pick(rng, GROUPS["all"], script.split)
    other = rng.choice(names) if key == "size" and rng.random() < 0.5 else ""
    but = rng.choice(GROUPS["but"]).replace("{size}", "{size2}") if other else ""
    filled = {"S": _detail(key), "AGAIN": _drink(other, "2")}
    given = said(script, "change_drink", f"{source} {but}", **filled)
    own = {"drink": given.get("drink2", ""), "size": given.get("size2", "")}
    shared = {key: given[key]}
    return _change(script, [own if n == other else {"drink": n} | shared for n in names])


def _adjust_one(script: Script, name: str) -> bool:
    source = pick(script.rng, GROUPS["one_of"], script.split)
    key = script.rng.choice(("roast", "size", "milk"))
    # The words "one of the" are part of the value, as they say that the others stay as they are.
    one = _drink(f"one of {script.rng.choice(('the', 'the', 'my', 'those'))} {name}")
    return _change(script, [said(script, "change_drink", source, A=one, D=_detail(key))])


def _drink(name: str, number: str = "") -> str:
    return f"{{drink{number}={name.lower()}}}"


def _detail(key: str, number: str = "") -> str:
    lead = "with " if key == "milk" else ""
    return f"{lead}{{{key}{number}{'=decaf' if key == 'roast' else ''}}}"


def _change(script: Script, changes: list[Arguments]) -> bool:
    script.answer([call_of("change_drink", change) for change in changes])
    return True


def just_ordered(script: Script) -> list[Arguments]:
    """The drinks of the last calls if they are the whole order, all of different names; else []."""
    calls = last_calls(script)
    drinks = [c["arguments"] for c in calls if c["name"] == "order_drink"]
    names = {a["drink"].removesuffix("s") for a in drinks}
    told = len(drinks) == len(calls) == len(names) == len(script.world.order)
    return drinks if told and all(a in script.world.order for a in drinks) else []


def remove_described(script: Script) -> bool:
    """The customer refers to one of the drinks just ordered by a detail, and wants it removed."""
    known = just_ordered(script)
    options = [
        (a["drink"], k, a[k])
        for a in known
        for k in ("size", "milk", "shots", "sweetener", "extras")
        if k in a and all(other.get(k) != a[k] for other in known if other is not a)
    ]
    if len(known) < 2 or not options:
        return False
    drink, key, detail = script.rng.choice(options)
    source = pick(script.rng, GROUPS["one_with"], script.split)
    if key == "size":
        source = source.replace("the one WITH", f"the {detail.lower()} one")
    said(script, "remove_drink", source, WITH=f"with {detail.lower()}")
    script.answer([("remove_drink", {"drink": drink})])
    return True


def keep(script: Script) -> bool:
    """The customer wants to keep a drink, so nothing is to be done."""
    order = script.world.order
    if not order:
        return False
    drink = script.rng.choice(order)["drink"]
    only = len(order) == 1 and script.rng.random() < 0.5
    source = pick(script.rng, GROUPS["keep_only"] if only else GROUPS["keep"], script.split)
    said(script, "remove_drink", source, A=_drink(drink))
    script.used.add("remove_drink")
    script.settle(fill(script.rng.choice(GROUPS["kept"]), script.rng, {"drink": drink.lower()}))
    return True
