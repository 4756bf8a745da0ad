"""Orders of a coffee shop: drinks are added, merged, changed, removed, read back and placed.

The order of a conversation is in its scope; a placed one is kept in the store. `coffee_menu` has
the menu, `coffee_details` reads the details of a drink, and `coffee_order` finds the drink of the
order that is meant.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any

from voice.errors import StoreError
from voice.tools import phrasing
from voice.tools.builtin import coffee_details as details
from voice.tools.builtin.coffee_customer import customer, given_customer, name_beside
from voice.tools.builtin.coffee_menu import (
    MENU,
    drink_named,
    is_cold,
    named_in,
    near,
    not_offered,
    plural,
    price,
    singular,
    sold,
)
from voice.tools.builtin.coffee_order import (
    ALL,
    LAST,
    additions,
    called_so,
    check_shot,
    found_in,
    is_kind_of,
    label_of,
    meant_in,
    name_of,
    newest_of,
    only_one,
    pointed_at,
    put_in_place,
    some_of,
    taken_off,
    unoffered,
)
from voice.tools.registry import Asked, Choose, Known, Readable, ToolError, tool
from voice.tools.scope import Drink, Placed, SessionScope
from voice.tools.spoken_money import money
from voice.tools.store import Store

_OFF = re.compile(r"\b(?:off|out|without|hold)\b")
_TAKING_OFF = re.compile(r"\b(?:remove|cancel|delete|drop|scrap|scratch|bin|take .*off)\b")
_INSTEAD_OF = re.compile(r"\b(?:instead of|rather than) (?:the |my )?([\w ]+?)(?: please|[,.!?]|$)")
_THE_SAME = re.compile(r"\bsame\b.*\b(?:but|only|except|just)\b")
_SUMMING_UP = re.compile(
    r"^(?:yes|yeah|yep|right|correct|exactly)\b(?!.*\b(?:another|more|too|second)\b)"
    r".*\bthat(?:'s| is|'ll be| will be) (?:it|all|everything)\b"
)
"""Sums up what is already ordered: "yes, a small tea, that's it"."""
_REFINING = re.compile(r"(?<!and )(?<!but )\bthen\b(?! (?:an?|one|some|also|i|we)\b)")
"""Refines the drink that was just ordered: "a medium mocha then"."""
_TAKEN_OUT = re.compile(
    r"\b(?:take|leave|get|remove|keep) (?:the |any )?(?P<what>\w+(?: \w+){0,2}?)"
    r"(?: (?:out|off)(?: (?:of|from))?| from) (?:the |my )?(?P<drink>\w+(?: \w+){0,2}?)"
    r"(?: (?:please|then|thanks|again))?[.!]*$"
)
_IT = re.compile(r"\b(?:it|that|this)\b(?!')")
_EVERY = re.compile(
    r"(?<!that's )(?<!that is )\b(?:everything|all of (?:it|them)|them all|both|all the"
    r"|each(?: of them| one)?|every (?:one|drink))\b"
)
_AGREEING = re.compile(r"(?:(?:yes|yeah|yep|sure|ok|okay|right|correct|please|that's)\b\W*)+")


@dataclass(frozen=True, slots=True)
class Ordered:
    """A drink of an order, and how many of it."""

    drink: Drink
    count: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The drinks of an order that was cancelled."""

    order: Mapping[Drink, int]


def _ordered(said: str, *, scope: SessionScope) -> None:
    """Check that words name a drink of the order.

    Raises:
        ToolError: They do not, or the order is being made.
    """
    _check_open(scope)
    found_in(said, scope.order)


def _is_made(scope: SessionScope) -> bool:
    """Whether the order is placed and already being made, so that it is too late for changes."""
    placed, now_s = scope.placed, scope.now().timestamp()
    return placed is not None and now_s > placed.at_s + 60 * scope.shop.change_min


def _check_open(scope: SessionScope) -> None:
    """Refuse to change an order that is being made.

    Raises:
        ToolError: It is being made.
    """
    if _is_made(scope):
        raise ToolError("The order is being made already, so I cannot change it.")


def _saved(
    scope: SessionScope, store: Store, order: Mapping[Drink, int], told: str, customer: str = ""
) -> str:
    """Replace the order, also in the store if it is placed; returns ``told`` and what follows.

    Raises:
        ToolError: The placed order is no longer in the store.
        StoreError: The store failed, and nothing has changed.
    """
    before, known = scope.kept_order(), scope.customer
    named = customer or name_beside(next(iter(scope.said), ""), ordering=True)
    placed = None if _is_made(scope) else scope.placed
    scope.put_order(order, named or known, placed)
    if named and named != known:
        told = f"{told} The name is {named}.".strip()
    if placed is None:
        return told
    try:
        there = store.change_order(placed.order_id, scope.customer, _content(scope))
    except StoreError:
        scope.put_order(*before)
        raise
    if not (there and order):
        scope.put_order({}, known, None)
    if not there:
        raise ToolError("The order is not there any more, so I cannot change it.")
    if not order:
        return f"{told} So I have cancelled the order."
    return f"{told} The order is placed like that.{total(scope)}"


_DrinkName = Annotated[str, Readable(lambda said, _: drink_named(said), not_offered, whole=False)]
_WHAT_ELSE = "Anything else?"
_WHICH_DRINK = "Sorry, which drink of the order do you mean?"
_Ordered = Annotated[str, Known(_ordered, _WHICH_DRINK, names=lambda said: drink_named(said))]
_Name = Annotated[
    str, Readable(lambda said, _: customer(said, sure=True), whole=False, refuses=False, free=True)
]


def _check_sold(arguments: Mapping[str, str], message: str, *, scope: SessionScope) -> None:
    """Refuse a drink that the shop does not sell, by the message's name for it.

    Raises:
        Choose: The shop does not sell it.
    """
    check_shot(arguments, message)
    drink = arguments["drink"]
    called = unoffered(drink, message)
    if called or not sold(drink_named(drink), scope.shop):
        missing, shop = called or drink, scope.shop
        raise Choose(not_offered(missing, shop), "drink", near(missing, shop))


def _drink_of(said: Mapping[str, str]) -> tuple[Drink, int]:
    """The drink that a call's arguments order, and how many.

    Raises:
        ToolError: An argument cannot be read, or the drink is not on the menu.
    """
    given = defaultdict(str, said)
    size, called = details.sized(given["drink"])
    name = drink_named(called)
    skinny = name.startswith("skinny ")
    drink = Drink(
        name.removeprefix("skinny "), details.size(given["size"] or size),
        details.roast(given["roast"]), details.shots(given["shots"]),
        details.milk(given["milk"] or "skinny" * skinny),
        details.addition(given["sweetener"]), details.extra(given["extras"]),
    )  # fmt: skip
    return drink, details.count(given["quantity"])


def _in_words(said: Mapping[str, str]) -> str:
    drink, count = _drink_of(said)
    label = label_of(drink, count, always_count=False)
    return label if count > 1 else f"{'an' if label[0] in 'aeiou' else 'a'} {label}"


@tool(refuses=_check_sold, meant=_in_words, asks_next=_WHAT_ELSE)
def order_drink(
    drink: _DrinkName,
    size: details.Size = "",
    roast: details.Roast = "",
    milk: details.Milk = "",
    shots: details.Shots = "",
    sweetener: details.Sweetener = "",
    extras: details.Extra = "",
    quantity: details.Quantity = "",
    *,
    scope: SessionScope,
    store: Store,
) -> str:
    """Add a drink to the order."""
    _check_sold({"drink": drink}, next(iter(scope.said), ""), scope=scope)
    said = {"size": size, "roast": roast, "shots": shots, "milk": milk,
            "sweetener": sweetener, "extras": extras}  # fmt: skip
    ordered, count = _drink_of({**said, "drink": drink, "quantity": quantity})
    _check_goes(ordered)
    old = scope.removed
    if isinstance(old, Ordered) and (
        of := [*said] if is_kind_of(ordered.name, old.drink.name) else _of_the_swapped(scope)
    ):
        kept = {part: getattr(old.drink, part) for part in of if not said[part]}
        ordered, count = replace(ordered, **kept), count if quantity else old.count
        scope.removed = None
    had = {} if _is_made(scope) else scope.order
    message = next(iter(scope.said), "").lower()
    if _THE_SAME.search(message):
        ordered = _flavored_anew(ordered, message)
    if had == {ordered: count} and _SUMMING_UP.search(message):
        return read_order(scope=scope)
    order = {**had, ordered: had.get(ordered, 0) + count}
    told = f"Added: {label_of(ordered, count, always_count=False)}."
    plain = Drink(ordered.name)
    if [*had.items()][-1:] == [(plain, count)] and plain != ordered and _REFINING.search(message):
        del order[plain]
        told = f"Changed: {label_of(ordered, order[ordered], always_count=False)}."
    instead = _INSTEAD_OF.search(message)
    old_ones = called_so(name_of(instead[1]), scope.order) if instead and had else []
    if instead and len(old_ones) > 1 and not instead[1].endswith("s"):
        labels = [f"the {label_of(one, 1, always_count=False)}" for one in old_ones]
        raise ToolError(f"Which one is to go: {phrasing.joined(labels, last='or')}?")
    for gone in old_ones:
        if gone != ordered:
            told = f"Removed: {label_of(gone, order.pop(gone), always_count=False)}. {told}"
    return _saved(scope, store, order, told)


def _flavored_anew(drink: Drink, message: str) -> Drink:
    """A drink copied from another with a new flavor, which replaces the old one.

    "The same but with caramel" must not keep the vanilla.
    """
    flavor = drink.sweetener.partition(" ")[0]
    if not flavor or flavor in message or not details.is_flavor(drink.extras):
        return drink
    return details.swapped(replace(drink, extras=""), flavor, drink.extras) or drink


def _named_instead(drink: str, scope: SessionScope) -> str:
    """The drink that the newest message wants in place of ``drink``; empty for none."""
    message = next(iter(scope.said), "").lower()
    instead = _INSTEAD_OF.search(message)
    if instead is None or name_of(instead[1]) != name_of(drink):
        return ""
    named = [one for one in named_in(message[: instead.start()]) if sold(one, scope.shop)]
    return named[-1] if named and not is_kind_of(named[-1], name_of(drink)) else ""


def _of_the_swapped(scope: SessionScope) -> list[str]:
    """The details that a drink takes over from a removed one of another kind, if it is a swap."""
    said = next(iter(scope.said), "").lower()
    return ["size"] if re.search(r"\b(?:swap|replace|exchange|switch|change)\b", said) else []


def _change_in_words(said: Mapping[str, str]) -> str:
    called, quantity = pointed_at(said["drink"]), said.get("quantity", "")
    values = {part: value for part, value in said.items() if part not in ("drink", "quantity")}
    if not values and not quantity:
        raise ToolError("What am I to change?")
    if not values:
        count, name = details.count(quantity), called.removeprefix("the ")
        named = {"it": ""}.get(name, f" {name if count == 1 else plural(singular(name))}")
        return f"{count}{named} in all"
    to = phrasing.joined([details.in_words(part, values[part]) for part in values])
    changed = "changed to" if values.keys() & {"size", "roast"} else "with"
    return f"{f'{quantity} of ' if quantity else ''}{called} {changed} {to}"


@tool(refuses=check_shot, meant=_change_in_words, asks_next=_WHAT_ELSE)
def change_drink(
    drink: _Ordered,
    size: details.Size = "",
    roast: details.Roast = "",
    milk: details.Milk = "",
    shots: details.Shots = "",
    sweetener: details.Sweetener = "",
    extras: details.Extra = "",
    quantity: details.Quantity = "",
    *,
    scope: SessionScope,
    store: Store,
) -> str:
    """Change a drink of the order."""
    _check_open(scope)
    said = {"size": size, "roast": roast, "shots": shots, "milk": milk,
            "sweetener": sweetener, "extras": extras}  # fmt: skip
    if new := _named_instead(drink, scope):
        return order_drink(new, **said, quantity=quantity, scope=scope, store=store)
    order, meant = dict(scope.order), _meant(drink, scope)
    # Of several, those that are like that already stay as they are.
    changing = [one for one in meant if details.changed(one, said) != one] or meant
    told = [_changed(one, order, said, quantity, drink, scope) for one in changing]
    return _saved(scope, store, order, f"Changed: {phrasing.joined(told)}.")


def _meant(drink: str, scope: SessionScope) -> list[Drink]:
    """The drinks of the order to change: one, unless the message says all of them.

    Raises:
        ToolError: There is none, or several may be meant.
    """
    message = next(iter(scope.said), "").lower()
    last = newest(scope)
    named = name_of(drink) not in LAST and re.search(rf"\b{re.escape(name_of(drink))}", message)
    if _EVERY.search(message):
        return found_in(drink, scope.order) if named else [*scope.order]
    if last and not named and _IT.search(message) and last in found_in(drink, scope.order):
        return [last]
    return [meant_in(drink, scope.order, newest=last)]


def newest(scope: SessionScope) -> Drink | None:
    """The drink of the order that was mentioned last; None if the order is empty."""
    return newest_of(scope.order, [one.said for one in scope.done])


def _changed(
    ordered: Drink,
    order: dict[Drink, int],
    said: Mapping[str, str],
    quantity: str,
    drink: str,
    scope: SessionScope,
) -> str:
    """Change one drink in ``order``; returns its new label.

    Raises:
        ToolError: It is like that already, or cannot be made.
    """
    had, changed = order[ordered], details.changed(ordered, said)
    _check_goes(changed)
    # With other details, a number says how many of the drinks change; alone, it is the new count.
    message = next((one for one in scope.said if not _AGREEING.fullmatch(one.lower())), "")
    values = [said[name] for name in ("size", "roast", "milk", "extras") if said[name]]
    number = details.count(quantity) if quantity else 0
    some = (number or some_of(f"{message} {drink}", values)) if changed != ordered else 0
    left = had - some if 0 < some < had else 0
    count = had - left if left else number or had
    if (changed, count) == (ordered, had):
        raise ToolError(f"The order has {label_of(ordered, had, True)}. What am I to change?")
    put_in_place(order, ordered, changed, count, left)
    return label_of(changed, count, always_count=False)


@tool(undoes=True, behind={"remove_drink", "cancel_order"}, asks_next=_WHAT_ELSE)
def keep_drink(new: details.Detail = "", *, scope: SessionScope, store: Store) -> str:
    """Put back what was taken off just now, with a detail in another's place."""
    _check_open(scope)
    gone, scope.removed = scope.removed, None
    if not isinstance(gone, Ordered | Cancelled):
        raise ToolError(_WHICH_DRINK)
    back = dict(gone.order) if isinstance(gone, Cancelled) else {gone.drink: gone.count}
    if new:
        back = {details.swapped(one, "", new.lower()) or one: n for one, n in back.items()}
    order = dict(scope.order)
    for one, count in back.items():
        order[one] = order.get(one, 0) + count
    kept = phrasing.joined([label_of(one, n, always_count=False) for one, n in back.items()])
    return _saved(scope, store, order, f"Kept: {kept}.")


@tool(asks_next=_WHAT_ELSE)
def swap_in_order(
    new: details.Detail = "",
    old: str = "",
    drink: str = "",
    *,
    scope: SessionScope,
    store: Store,
) -> str:
    """Put something in the place of a detail, or the last drink in that of another."""
    _check_open(scope)
    if not scope.order:
        raise ToolError("The order is empty. What would you like?")
    called = old in LAST or bool(called_so(name_of(old), scope.order))
    if new:
        of, old = (drink or (old if called else ""), "" if called else old)
        among = (
            found_in(of or "it", scope.order, newest(scope)) if of or not old else [*scope.order]
        )
        made = ((one, details.swapped(one, old.lower(), new.lower())) for one in among)
        changes = {one: after for one, after in made if after}
    else:
        *others, last = scope.order
        changes = {one: last for one in others if one in called_so(name_of(old), scope.order)}
    if not changes:
        raise ToolError(f"There is no {old} in the order, so I have changed nothing.")
    before = only_one([*changes])
    after, order = changes[before], dict(scope.order)
    if before == after and new.lower() == "hot" and not is_cold(after.name):
        return f"The {label_of(after, 1, always_count=False)} will be hot."
    if before == after:
        raise ToolError(f"The order has {label_of(after, order[after], True)} already.")
    if new:
        put_in_place(order, before, after, order[before], 0)
    gone = "" if new else f"Removed: {label_of(before, order.pop(before), always_count=False)}. "
    told = "Changed" if new else "In its place"
    return _saved(scope, store, order, f"{gone}{told}: {label_of(after, order[after], False)}.")


@tool(undoes=True, meant=lambda said: f"without {pointed_at(said['drink'])}", asks_next=_WHAT_ELSE)
def remove_drink(drink: _Ordered, *, scope: SessionScope, store: Store) -> str:
    """Remove a drink from the order."""
    _check_open(scope)
    placed = scope.placed and [one.tool for one in scope.done[-1:]] == ["confirm_order"]
    if placed and name_of(drink) in LAST:
        # Right after the order was placed, "it" is the order.
        return cancel_order(scope=scope, store=store)
    if name_of(drink) in ALL:
        # Only if the message says so: "make everything to go" removes nothing.
        if not _TAKING_OFF.search(next(iter(scope.said), "").lower()):
            raise ToolError("I have changed nothing. What would you like?")
        return cancel_order(scope=scope, store=store)
    if changed := _taken_out(scope):
        before, after = changed
        order = dict(scope.order)
        put_in_place(order, before, after, order[before], 0)
        told = f"Changed: {label_of(after, order[after], always_count=False)}."
        return _saved(scope, store, order, told)
    if (flavored := _flavored(name_of(drink), scope)) is not None:
        ordered, order = replace(flavored, name=flavored.name.partition(" ")[2]), dict(scope.order)
        put_in_place(order, flavored, ordered, order[flavored], 0)
        told = f"Changed: {label_of(ordered, order[ordered], always_count=False)}."
        return _saved(scope, store, order, told)
    count = taken_off(f"{drink}\n{next(iter(scope.said), '')}")
    order, last = scope.order, newest(scope)
    # The one spoken of last, unless another is called just so.
    just_named = not count and Drink(name_of(drink)) not in order
    newest_one = last if just_named and last in found_in(drink, order, last) else None
    gone = newest_one or meant_in(drink, order, count, last)
    had = scope.order[gone]
    left = {one: n - (one == gone) * (count or n) for one, n in scope.order.items()}
    scope.removed = removed = Ordered(gone, min(had, count or had))
    left = {one: n for one, n in left.items() if n > 0}
    told = f"Removed: {label_of(removed.drink, removed.count, always_count=False)}."
    return _saved(scope, store, left, told)


def _taken_out(scope: SessionScope) -> tuple[Drink, Drink] | None:
    """The drink from which the newest message removes a detail, before and after; None if none.

    Raises:
        ToolError: The drink does not have the detail, or several may be meant.
    """
    found = _TAKEN_OUT.search(next(iter(scope.said), "").lower())
    if found is None or called_so(name_of(found["what"]), scope.order):
        return None
    try:
        details.detail(found["what"])
        among = found_in(found["drink"], scope.order, newest(scope))
    except ToolError:
        return None
    what = found["what"]
    changes = {one: after for one in among if (after := _lacking(one, what)) != one}
    if not changes:
        raise ToolError(f"There is no {what} in {pointed_at(found['drink'])}.")
    before = only_one([*changes])
    return before, changes[before]


def _lacking(drink: Drink, what: str) -> Drink:
    """A drink without a detail, which may be a part of its name."""
    plain = drink.name.removeprefix(f"{what} ")
    if plain != drink.name and plain in MENU:
        return replace(drink, name=plain)
    return details.without(drink, f"no {what}")


def _flavored(flavor: str, scope: SessionScope) -> Drink | None:
    """The ordered drink from whose name a flavor is to be removed; None if there is none."""
    # The message before counts too: the newest one may be a mere "yes".
    asked = any(_OFF.search(message.lower()) for message in scope.said[:2])
    found = [one for one in scope.order if one.name.startswith(f"{flavor} ")]
    plain = found and found[-1].name.removeprefix(f"{flavor} ")
    known = details.is_flavor(flavor) and plain in MENU and not called_so(flavor, scope.order)
    return found[-1] if asked and known else None


@tool()
def cancel_order(*, scope: SessionScope, store: Store) -> str:
    """Cancel the whole order."""
    _check_open(scope)
    if not scope.order:
        return "The order is empty."
    content, order = _content(scope), dict(scope.order)
    _saved(scope, store, {}, "")
    scope.removed = Cancelled(order)
    return f"Cancelled: {content}."


@tool(read_only=True)
def read_order(*, scope: SessionScope) -> str:
    """Read the order back."""
    if not scope.order:
        return "The order is empty."
    name = f" for {scope.customer}" if scope.customer else ""
    placed = " placed" if scope.placed else ""
    return f"The order{name} is{placed}: {_content(scope)}.{total(scope)}"


_PLACE_IT = re.compile(
    r"\b(?:that|this|it)(?:'?s|'ll be| is| was| will be) (?:all|it|everything)\b"
    r"|\b(?:place|submit|send|confirm|finish|complete) (?:(?:the|my|our|this) order|it|that)\b"
    r"|\b(?:confirm(?:ed)?|check ?out|nothing (?:else|more)|go ahead|done|finished|all set)\b"
    r"|^(?:yes|yeah|yep|yup|sure|correct|perfect|(?:looks?|sounds?) (?:good|right)|i'm good)\b"
    r"|\b(?:we're good|good to go|ready to order|order (?:it|for|under))\b"
    r"|\bjust (?:that|those|the one)\b|\bput (?:it|that) (?:through|under)\b"
    r"|^(?:no|nope)(?:,? (?:thanks|thank you))?$"
    r"|^(?:(?:ok|okay|great|good|perfect|thanks|thank you|cheers|lovely|right)\W+)+(?:good)?bye\b"
)
_NOT_YET = re.compile(r"\b(?:don't|do not|not|wait|hang on|hold on|before|isn't|without)\b|\?$")


def places_order(message: str) -> bool:
    """Whether a user's message says plainly that the order is complete."""
    said = " ".join(message.lower().replace("’", "'").split())
    return bool(_PLACE_IT.search(said)) and not _NOT_YET.search(said)


def _shall_i(_: Mapping[str, Any], *, scope: SessionScope) -> str:
    if not scope.order or scope.placed:
        return ""
    return f"The order is: {_content(scope)}.{total(scope)} Shall I place it?"


@tool(asked=Asked(_shall_i, places_order))
def confirm_order(name: _Name = "", *, scope: SessionScope, store: Store) -> str:
    """Place the order."""
    known = scope.customer
    beside = (name_beside(message) for message in scope.said)
    called = given_customer(name, scope.said) or next(filter(None, beside), "") or known
    if not scope.order:
        scope.put_order({}, called, None)
        raise ToolError("The order is empty. What would you like?")
    content, costs = _content(scope), total(scope)
    if scope.placed and (_is_made(scope) or called == known):
        return f"The order is placed: {content}.{costs}"
    if scope.placed:
        return _saved(scope, store, dict(scope.order), "", called)
    now_s = scope.now().timestamp()
    placed = Placed(store.place_order(called, content, now_s), now_s)
    scope.put_order(dict(scope.order), called, placed)
    return f"Order confirmed{f' for {called}' if called else ''}: {content}.{costs}"


def _check_goes(drink: Drink) -> None:
    """Refuse shots or milk in water or lemonade.

    Raises:
        ToolError: The drink has them.
    """
    added = [part for part in (drink.shots, drink.milk) if part]
    if added and drink.name.split()[-1] in ("water", "lemonade"):
        raise ToolError(f"I cannot put {phrasing.joined(added)} into {drink.name}.")


def _content(scope: SessionScope) -> str:
    return "; ".join(
        label_of(drink, count, always_count=True) for drink, count in scope.order.items()
    )


def total(scope: SessionScope) -> str:
    """A sentence on what the order costs; empty if a price is unknown or nothing is ordered."""
    costs = [
        (price(drink.name, " ".join((drink.size, *additions(drink))), scope.shop), count)
        for drink, count in scope.order.items()
    ]
    known = [one * count for one, count in costs if one is not None]
    if not known or len(known) < len(costs):
        return ""
    return f" That comes to {money(sum(known, Decimal(0)), scope.shop.currency)}."
