"""Orders of a coffee shop: drinks are added, merged, changed, removed, read back and placed.

The order of a conversation is in its scope; a placed one is kept in the store. What there is to be
had is in `coffee_menu`, how people say what a drink is to have in `coffee_details`, and which drink
of the order they mean in `coffee_order`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any

from voice.config.moments import OATHS, is_question
from voice.errors import StoreError
from voice.tools import phrasing
from voice.tools.builtin import coffee_details as details
from voice.tools.builtin.coffee_menu import (
    MENU,
    SIZES,
    STYLES,
    answer,
    asked_on,
    asks_the_price,
    asks_when_ready,
    bare,
    drink_named,
    named_in,
    near,
    not_offered,
    price,
    sold,
)
from voice.tools.builtin.coffee_order import (
    COUNTED,
    LAST,
    additions,
    called_so,
    found_in,
    is_kind_of,
    label_of,
    meant_in,
    name_of,
    only_one,
    put_in_place,
    some_of,
    taken_off,
)
from voice.tools.registry import Asked, Choose, Known, Readable, ToolError, Unreadable, tool
from voice.tools.scope import Drink, Placed, SessionScope
from voice.tools.spoken_money import money
from voice.tools.spoken_numbers import digits
from voice.tools.store import Store

_OFF = re.compile(r"\b(?:off|out|without|hold)\b")
_SWEARING = re.compile(rf"\b(?:{OATHS}) ")
_INSTEAD_OF = re.compile(r"\b(?:instead of|rather than) (?:the |my )?([\w ]+?)(?: please|[,.!?]|$)")
_AGREEING = re.compile(r"(?:(?:yes|yeah|yep|sure|ok|okay|right|correct|please|that's)\b\W*)+")


@dataclass(frozen=True, slots=True)
class Ordered:
    """A drink of an order, and how many of it."""

    drink: Drink
    count: int


def _ordered(said: str, *, scope: SessionScope) -> None:
    """Find a drink of the order.

    Raises:
        ToolError: There is none of that name.
    """
    _check_open(scope)
    found_in(said, scope.order)


def _is_made(scope: SessionScope) -> bool:
    """Whether the order is placed and being made, too late for a change."""
    placed, now_s = scope.placed, scope.now().timestamp()
    return placed is not None and now_s > placed.at_s + 60 * scope.shop.change_min


def _check_open(scope: SessionScope) -> None:
    """Refuse to change an order that is being made.

    Raises:
        ToolError: It is.
    """
    if _is_made(scope):
        raise ToolError("The order is being made already, so I cannot change it.")


def _saved(
    scope: SessionScope, store: Store, order: Mapping[Drink, int], told: str, customer: str = ""
) -> str:
    """Have ordered these, and keep that where the order is placed; what is told says so.

    Raises:
        ToolError: A placed order is not there any more.
        StoreError: It cannot be kept, and nothing has changed.
    """
    before, known = scope.kept_order(), scope.customer
    named = customer or _name_beside(scope)
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
    return f"{told} The order is placed like that.{_total(scope)}"


def _name_beside(scope: SessionScope) -> str:
    """The customer's name that a message gives beside what it orders; empty for none."""
    message = next(iter(scope.said), "").replace("’", "'")
    found = _NAME_BESIDE.search(message)
    if found is None:
        return ""
    try:
        return _customer(found["sure"] or found["name"])
    except Unreadable:
        return ""


_DrinkName = Annotated[str, Readable(lambda said, _: drink_named(said), not_offered, whole=False)]
_WHAT_ELSE = "Anything else?"
_WHICH_DRINK = "Sorry, which drink of the order do you mean?"
_Ordered = Annotated[str, Known(_ordered, _WHICH_DRINK, names=lambda said: drink_named(said))]
_Name = Annotated[
    str, Readable(lambda said, _: _customer(said), whole=False, refuses=False, free=True)
]


def _check_sold(arguments: Mapping[str, str], message: str, *, scope: SessionScope) -> None:
    """Refuse what the shop does not sell, by the name that a message has for it.

    Raises:
        Choose: The menu has none of it.
    """
    drink = arguments["drink"]
    called = _unoffered(drink, message)
    if called or not sold(drink_named(drink), scope.shop):
        missing, shop = called or drink, scope.shop
        raise Choose(not_offered(missing, shop), "drink", near(missing, shop))


def _drink_of(said: Mapping[str, str]) -> tuple[Drink, int]:
    """What the arguments of a call order, and how many.

    Raises:
        ToolError: One of them is not to be had.
    """
    given = defaultdict(str, said)
    drink = Drink(
        drink_named(given["drink"]), details.size(given["size"]), details.roast(given["roast"]),
        details.shots(given["shots"]), details.milk(given["milk"]),
        details.addition(given["sweetener"]), details.addition(given["extras"]),
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
    order = {**had, ordered: had.get(ordered, 0) + count}
    told = f"Added: {label_of(ordered, count, always_count=False)}."
    instead = _INSTEAD_OF.search(next(iter(scope.said), "").lower())
    old_ones = called_so(name_of(instead[1]), scope.order) if instead and had else []
    if len(old_ones) == 1 and old_ones[0] != ordered:
        gone = Ordered(old_ones[0], order.pop(old_ones[0]))
        told = f"Removed: {label_of(gone.drink, gone.count, always_count=False)}. {told}"
    return _saved(scope, store, order, told)


def _of_the_swapped(scope: SessionScope) -> list[str]:
    """The details that a drink keeps of one of another kind in whose place it is put."""
    said = next(iter(scope.said), "").lower()
    return ["size"] if re.search(r"\b(?:swap|replace|exchange|switch|change)\b", said) else []


def _change_in_words(said: Mapping[str, str]) -> str:
    values = {name: value for name, value in said.items() if name != "drink"}
    some = f"{values.pop('quantity')} of " if "quantity" in values and len(values) > 1 else ""
    return f"{some}the {bare(said['drink'])} changed to {phrasing.joined([*values.values()])}"


@tool(meant=_change_in_words, asks_next=_WHAT_ELSE)
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
    ordered = meant_in(drink, scope.order)
    had = scope.order[ordered]
    changed = replace(
        ordered,
        size=details.size(size) or ordered.size,
        roast=details.roast(roast) or ordered.roast,
        shots=details.replaced(shots, ordered.shots, details.shots),
        milk=details.replaced(milk, ordered.milk, details.milk),
        sweetener=details.replaced(
            details.of_the_same(sweetener, ordered.sweetener), ordered.sweetener, details.addition
        ),
        extras=details.with_extras(extras, ordered.extras),
    )
    if changed == ordered:
        # The cream of "no cream" may be an extra, or milk.
        changed = details.without(changed, milk, sweetener, extras)
    _check_goes(changed)
    # Details of some of several; a number alone is how many there are to be.
    said = next((one for one in scope.said if not _AGREEING.fullmatch(one.lower())), "")
    values = [value for value in (size, roast, milk, extras) if value]
    number = details.count(quantity) if quantity else 0
    some = (some_of(f"{said} {drink}", values) or number) if changed != ordered else 0
    left = had - some if 0 < some < had else 0
    count = had - left if left else number or had
    if (changed, count) == (ordered, had):
        raise ToolError(f"The order has {label_of(ordered, had, True)}. What am I to change?")
    order = dict(scope.order)
    put_in_place(order, ordered, changed, count, left)
    return _saved(scope, store, order, f"Changed: {label_of(changed, count, always_count=False)}.")


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
        among = found_in(of or "it", scope.order) if of or not old else [*scope.order]
        made = ((one, details.swapped(one, old.lower(), new.lower())) for one in among)
        changes = {one: after for one, after in made if after}
    else:
        *others, newest = scope.order
        changes = {one: newest for one in others if one in called_so(name_of(old), scope.order)}
    if not changes:
        raise ToolError(f"There is no {old} in the order, so I have changed nothing.")
    before = only_one([*changes])
    after, order = changes[before], dict(scope.order)
    if before == after:
        raise ToolError(f"The order has {label_of(after, order[after], True)} already.")
    if new:
        put_in_place(order, before, after, order[before], 0)
    gone = "" if new else f"Removed: {label_of(before, order.pop(before), always_count=False)}. "
    told = "Changed" if new else "In its place"
    return _saved(scope, store, order, f"{gone}{told}: {label_of(after, order[after], False)}.")


@tool(undoes=True, meant=lambda said: f"without the {bare(said['drink'])}", asks_next=_WHAT_ELSE)
def remove_drink(drink: _Ordered, *, scope: SessionScope, store: Store) -> str:
    """Remove a drink from the order."""
    _check_open(scope)
    placed = scope.placed and [one.tool for one in scope.done[-1:]] == ["confirm_order"]
    if placed and name_of(drink) in LAST:
        # Of what was placed just now "it" is the order.
        return cancel_order(scope=scope, store=store)
    if (flavored := _flavored(name_of(drink), scope)) is not None:
        ordered, order = replace(flavored, name=flavored.name.partition(" ")[2]), dict(scope.order)
        put_in_place(order, flavored, ordered, order[flavored], 0)
        told = f"Changed: {label_of(ordered, order[ordered], always_count=False)}."
        return _saved(scope, store, order, told)
    count = taken_off(f"{drink}\n{next(iter(scope.said), '')}")
    gone = meant_in(drink, scope.order, count) if count else found_in(drink, scope.order)[-1]
    had = scope.order[gone]
    left = {one: n - (one == gone) * (count or n) for one, n in scope.order.items()}
    scope.removed = removed = Ordered(gone, min(had, count or had))
    left = {one: n for one, n in left.items() if n > 0}
    told = f"Removed: {label_of(removed.drink, removed.count, always_count=False)}."
    return _saved(scope, store, left, told)


def _flavored(flavor: str, scope: SessionScope) -> Drink | None:
    """The ordered drink that a flavor is to be taken off which is in its name."""
    # Behind a "yes" as well.
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
    content = _content(scope)
    _saved(scope, store, {}, "")
    return f"Cancelled: {content}."


@tool(read_only=True)
def read_order(*, scope: SessionScope) -> str:
    """Read the order back."""
    if not scope.order:
        return "The order is empty."
    name = f" for {scope.customer}" if scope.customer else ""
    placed = " placed" if scope.placed else ""
    return f"The order{name} is{placed}: {_content(scope)}.{_total(scope)}"


def _ready(scope: SessionScope) -> str:
    """When a placed order will be ready, as a sentence; empty where that is unknown."""
    if scope.placed is None or not scope.shop.ready_min:
        return ""
    left_s = scope.placed.at_s + 60 * scope.shop.ready_min - scope.now().timestamp()
    left_min = max(1, round(left_s / 60))
    ready = f"will be ready in about {phrasing.counted(left_min, 'minute')}"
    return f"Your order {ready if left_s > 0 else 'should be ready'}."


def _check_known(arguments: Mapping[str, str], _: str, *, scope: SessionScope) -> None:
    """Refuse a question that only the model may understand.

    Raises:
        ToolError: Nothing is known of it.
    """
    answer_question(arguments["message"], scope=scope)


@tool(read_only=True, refuses=_check_known)
def answer_question(message: str, *, scope: SessionScope) -> str:
    """Answer a question about what there is to be had."""
    if asks_the_price(message, scope.shop) and (told := _what_it_costs(scope)):
        return told
    if asks_when_ready(message) and (told := _ready(scope)):
        return told
    if _ASKS_THE_NAME.search(message.lower()):
        return f"The name is {scope.customer}." if scope.customer else "The order has no name yet."
    try:
        # The toolbox has cut the "and" off the message; a check comes before it is the newest one.
        there = any(one.endswith(message) for one in scope.said[:1])
        said, *before = scope.said if there else (message, *scope.said)
        return answer(asked_on(said, before, scope.shop) or message, scope.shop)
    except ToolError:
        asked = _WHAT_ABOUT.match(message.lower())
        others = (_unoffered(one, message) for one in (named_in(asked.string) if asked else ()))
        if other := next(filter(None, others), ""):
            return not_offered(other, scope.shop)
        raise


def _what_it_costs(scope: SessionScope) -> str:
    """What a question for the price points at: the drink just asked about, or else the order."""
    asked = " ".join(one.lower() for one in scope.said[:2] if is_question(one))
    named = [one for one in named_in(asked) if not called_so(one, scope.order)]
    if not scope.order and not named:
        named = next(filter(None, (named_in(one.lower()) for one in scope.said)), [])
    return (
        answer(f"how much is {' or '.join(named)}", scope.shop) if named else _total(scope).strip()
    )


_WHAT_ABOUT = re.compile(r"(?:(?:and|or|so|ok|okay) )*(?:what|how) about ")
_ASKS_THE_NAME = re.compile(
    r"\b(?:what|which|whose|who)\b.*\b(?:names?|under|for)\W*$|\b(?:what|which|whose) name\b"
    r"|\b(?:my|a|the) name (?:on|for|down)\b"
)


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
_GIVEN_NAME = (
    r"(?:for|under|names?(?:'s| is| of)?|i'm|i am|it's|this is|that's|call(?: it| me)?|to|on|down)"
)
_NAME_BESIDE = re.compile(
    r"(?:\b(?i:(?:(?:my|the) )?name(?:'s| is|:)|under(?: the name(?: of)?)?"
    r"|(?:it|that|this|order)(?:'s| is) for|call(?:ed)? (?:it|me))"
    r" (?P<sure>[^\W\d_]+(?: (?!please|thanks|then)[^\W\d_]+)?)"
    r"|(?<![^\s,])(?i:for|i'm|i am) (?P<name>[A-Z][^\W\d_]+(?:[- '][A-Z][^\W\d_]+)?))"
    r"(?i:,? (?:please|thanks|then))*[.!]*$",
)
"""A name at the end of a message; behind "for" or "I'm" alone it has a capital."""
_NO_NAMES = """
i you he she it we they me him her them his hers my your our their mine yours this that these those
the a an and or but so to of in on at with for from is are was be no not yes yeah ok okay please
thanks thank here there now then all one ones more else order name place good done great right fine
everything nothing go ahead just big bigger wants want same again today later pickup takeaway
delivery takeout everyone hot iced cold me us breakfast lunch work home
"""


def places_order(message: str) -> bool:
    """Whether a message of the user's says plainly that the order is complete."""
    said = " ".join(message.lower().replace("’", "'").split())
    return bool(_PLACE_IT.search(said)) and not _NOT_YET.search(said)


def _shall_i(_: Mapping[str, Any], *, scope: SessionScope) -> str:
    if not scope.order or scope.placed:
        return ""
    return f"The order is: {_content(scope)}.{_total(scope)} Shall I place it?"


@tool(asked=Asked(_shall_i, places_order))
def confirm_order(name: _Name = "", *, scope: SessionScope, store: Store) -> str:
    """Place the order."""
    if not scope.order:
        raise ToolError("The order is empty. What would you like?")
    known = scope.customer
    customer = _customer_or_none(name, scope.said) or _name_beside(scope) or known
    content, total = _content(scope), _total(scope)
    if scope.placed and (_is_made(scope) or customer == known):
        return f"The order is placed: {content}.{total}"
    if scope.placed:
        return _saved(scope, store, dict(scope.order), "", customer)
    now_s = scope.now().timestamp()
    placed = Placed(store.place_order(customer, content, now_s), now_s)
    scope.put_order(dict(scope.order), customer, placed)
    return f"Order confirmed{f' for {customer}' if customer else ''}: {content}.{total}"


def _customer(said: str) -> str:
    """A name without the words before it.

    Raises:
        Unreadable: A word of it is no name.
    """
    bare = re.sub(r"^(?:for|under|my name is|name is|it's)\s+", "", said.strip())
    words = bare.lower().split()
    known = {word for name in (*MENU, *SIZES, *STYLES) for word in name.split()}
    if not 1 <= len(words) <= 3 or not known.union(_NO_NAMES.split()).isdisjoint(words):
        raise Unreadable("name", said)
    if re.search(r"\d", digits(bare)):
        raise Unreadable("name", said)
    return phrasing.name(bare)


def _customer_or_none(said: str, messages: Sequence[str]) -> str:
    """The customer's name, if it is one and the messages, where they are known, give it."""
    try:
        customer = _customer(said)
    except Unreadable:
        return ""
    name = re.escape(customer.lower())
    given = re.compile(
        rf"{_GIVEN_NAME} (?:the name (?:of )?)?{name}\b|\b{name} (?:is|please|here)\b"
        rf"|^(?:\W|yes|yeah|no|thanks)*{name}\W*$|[,.] {name}\W*$"
    )
    plain = (message.lower().replace("’", "'") for message in messages)
    return customer if not messages or any(map(given.search, plain)) else ""


def _unoffered(drink: str, message: str) -> str:
    """What a drink is called in a message, if that is none of the menu's; else empty.

    A model copies what can be read: of "a pumpkin spice latte" the latte.
    """
    newest = _SWEARING.sub("", re.sub(r"[^\w' ]", " ", message.lower()))
    called = rf"\b(?:an?|another|{COUNTED}) ((?:[a-z']+ ){{1,3}}){re.escape(drink.lower())}\b"
    for found in re.finditer(called, newest):
        known = details.are_known(digits(found[1], fractions=False) + " ")
        # Another drink may stand between: "two americanos a latte".
        if not known and not named_in(found[1]):
            return f"{found[1]}{drink.lower()}"
    return ""


def _check_goes(drink: Drink) -> None:
    """Refuse to put coffee or milk into what has none.

    Raises:
        ToolError: It is water or lemonade.
    """
    added = [part for part in (drink.shots, drink.milk) if part]
    if added and drink.name.split()[-1] in ("water", "lemonade"):
        raise ToolError(f"I cannot put {phrasing.joined(added)} into {drink.name}.")


def _content(scope: SessionScope) -> str:
    return "; ".join(
        label_of(drink, count, always_count=True) for drink, count in scope.order.items()
    )


def _total(scope: SessionScope) -> str:
    """A sentence on what the order costs; empty where a price is unknown, or nothing is ordered."""
    costs = [
        (price(drink.name, " ".join((drink.size, *additions(drink))), scope.shop), count)
        for drink, count in scope.order.items()
    ]
    known = [one * count for one, count in costs if one is not None]
    if not known or len(known) < len(costs):
        return ""
    return f" That comes to {money(sum(known, Decimal(0)), scope.shop.currency)}."
