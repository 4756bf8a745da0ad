"""Simulations of the coffee shop's tools; see `dlm.datagen.own_tools.simulated_tools`."""

from __future__ import annotations

import re

from dlm.datagen.language import spoken_values as spoken
from dlm.datagen.language.texting import spelt
from dlm.datagen.language.words import WORDS
from dlm.datagen.tools.world import (
    Arguments,
    Result,
    SimulatedTool,
    World,
    bare,
    failure,
    listing,
    title,
    told,
)  # fmt: skip
from dlm.language.spoken_numbers import number


def describe(a: Arguments, counted: bool = False) -> str:
    """A drink as the order reads it: "2 small mochas", "large latte with oat milk and sugar".

    Args:
        counted: Whether a single drink gets a number too ("1 large latte").
    """
    count = _count(a.get("quantity", "one"))
    name = " ".join([*(a[k].lower() for k in ("size", "roast") if k in a), spelt(a["drink"])])
    if count > 1:
        name = name + ("es" if name.endswith(("ss", "ch")) else "" if name.endswith("s") else "s")
    elif name.endswith("s") and not name.endswith("ss"):
        # In "two lattes one with oat milk" the drink of each is in the plural.
        name = name[:-1]
    with_ = [_addition(k, a[k]) for k in ("shots", "milk", "sweetener", "extras") if k in a]
    with_ = [w for w in with_ if w]
    text = f"{count} {name}" if counted or count > 1 else name
    return f"{text} with {listing(with_)}" if with_ else text


def _count(said: str) -> int:
    return _FEW.get(said.lower()) or int(number(said) or 1)


_FEW = {"a couple": 2, "half a dozen": 6, "a dozen": 12}
"""Amounts that are said without a number."""


def _addition(key: str, value: str) -> str:
    text = spoken.digits(value)
    if text.split()[0] in _NOTHING:
        return ""
    if key != "shots":
        return text
    text = text.removeprefix("an ").removeprefix("a ")
    if text.split()[0] in ("single", "double", "triple", "quad", "quadruple"):
        return f"a {text}"
    return "an extra shot" if text == "extra shot" else "1 shot" if text == "shot" else text


def _order_drink(world: World, a: Arguments) -> Result:
    drink = spelt(a["drink"])
    known = any(drink.rstrip("s").endswith(d) for d in WORDS["drink"])
    if world.rng.random() < (0.01 if known else 0.9):
        return failure(f"We do not have {drink}.{_others(world, drink)}")
    world.order.append(a)
    return told("Added: {drink}.", drink=describe(a))


def _others(world: World, drink: str) -> str:
    """An offer of up to three other drinks, or nothing."""
    if world.rng.random() < 0.5:
        return ""
    others = world.rng.sample([d for d in WORDS["drink"] if d != drink], world.rng.randint(1, 3))
    named = [f"{'an' if one[0] in 'aeiou' else 'a'} {one}" for one in others]
    return f" Would you like {listing(named, 'or')}?"


_ONE_OF = re.compile(r"one of (?:the|my|those) ")


def _is_called(drink: str, ordered: Arguments) -> bool:
    name = spelt(ordered["drink"])
    return drink in name or drink.rstrip("s") == name


def _change_drink(world: World, a: Arguments) -> Result:
    one_of = _ONE_OF.match(a["drink"].lower())
    drink = spelt(bare(a["drink"][one_of.end() if one_of else 0 :]))
    changes = {k: v for k, v in a.items() if k != "drink"}
    for at in reversed(range(len(world.order))):
        ordered = world.order[at]
        if _is_called(drink, ordered):
            kept = ordered | changes
            if one_of and (count := _count(kept.pop("quantity", "one"))) > 1:
                world.order.insert(at, ordered | {"quantity": str(count - 1)})
                at += 1
            world.order[at] = {k: v for k, v in kept.items() if not _is_none(k, v)}
            return told("Changed: {drink}.", drink=describe(world.order[at]))
    return failure(f"There is no {drink} in the order.")


def _is_none(key: str, value: str) -> bool:
    """Whether a value leaves out what its parameter would add."""
    words = value.lower().split()
    nothing = words[0] in _NOTHING or words[-1] == "off"
    return key not in ("drink", "size", "quantity") and nothing


_NOTHING = (
    "no", "none", "without", "plain", "black", "hold", "skip", "minus", "leave", "don't", "dont",
    "drop", "lose", "remove",
)  # fmt: skip


def _remove_drink(world: World, a: Arguments) -> Result:
    drink = spelt(bare(a["drink"]))
    for ordered in reversed(world.order):
        if _is_called(drink, ordered):
            world.order.remove(ordered)
            drink = drink if drink.endswith("ss") else drink.removesuffix("s")
            return told("Removed: {drink}.", drink=drink)
    return failure(f"There is no {drink} in the order.")


def _order_text(world: World) -> str:
    return "; ".join(describe(a, counted=True) for a in world.order)


def _read_order(world: World, _: Arguments) -> Result:
    if not world.order:
        return Result("The order is empty.", "empty")
    return told("The order is: {order}.", order=_order_text(world))


def _confirm_order(world: World, a: Arguments) -> Result:
    if not world.order:
        return failure("The order is empty.")
    order = _order_text(world)
    world.order.clear()
    if "name" not in a:
        return told("Order confirmed: {order}.", order=order)
    form = "Order confirmed for {name}: {order}."
    return told(form, "named", order=order, name=title(a["name"]))


def _transfer_call(world: World, a: Arguments) -> Result:
    to = a.get("to", "a person").lower()
    if to.split()[0] not in ("a", "an", "the", "my", "your", "some", "someone", "somebody"):
        to = f"the {to}"
    return told("Transferring you to {to}.", to=to)


ORDERING: tuple[SimulatedTool, ...] = (
    _order_drink, _change_drink, _remove_drink, _read_order, _confirm_order, _transfer_call,
)  # fmt: skip
