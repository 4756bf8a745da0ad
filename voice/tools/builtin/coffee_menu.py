"""The menu of a coffee shop: its drinks, their names, and answers to questions about them.

It does not know any order. Which drinks a shop sells, its prices, hours and the like are in the
agent's file. Nothing is made up: the answer to anything else is that it is unknown.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from decimal import Decimal

from voice.config.answers import answers_to
from voice.config.shop import ShopConfig
from voice.tools import phrasing
from voice.tools.registry import ToolError, Unreadable
from voice.tools.spoken_money import money
from voice.tools.spoken_numbers import digits

MENU = {
    "coffee": "filter coffee", "latte": "espresso with steamed milk",
    "cappuccino": "espresso with steamed milk and a lot of foam",
    "flat white": "espresso with a little steamed milk", "americano": "espresso with hot water",
    "espresso": "a small strong coffee", "mocha": "espresso with steamed milk and chocolate",
    "macchiato": "espresso with a spoon of milk foam",
    "cortado": "espresso with as much steamed milk", "cold brew": "coffee steeped cold for hours",
    "iced coffee": "coffee on ice", "tea": "", "chai": "spiced black tea with milk",
    "matcha": "powdered green tea with milk", "hot chocolate": "chocolate with steamed milk",
    "lemonade": "", "water": "", "drip coffee": "", "filter coffee": "", "black coffee": "",
    "ristretto": "a shorter espresso", "lungo": "a longer espresso",
    "affogato": "espresso over ice cream", "red eye": "filter coffee with a shot of espresso",
    "pour over": "", "cafe au lait": "coffee with hot milk", "frappe": "", "steamer": "",
    "green tea": "", "black tea": "", "herbal tea": "", "peppermint tea": "", "earl grey": "",
    "cocoa": "", "steamed milk": "",
}  # fmt: skip
"""Drink → what it is, if a caller may not know; the most popular first."""
STYLES = (
    "iced", "hot", "decaf", "vanilla", "caramel", "hazelnut", "white", "chai", "matcha", "nitro",
    "house", "double", "single", "triple", "turkish", "mocha", "cafe", "latte", "half", "caf",
    "dark", "dirty", "peppermint", "cinnamon", "honey", "skinny", "plain", "chamomile", "tap",
)  # fmt: skip
"""Words that, before a drink of the menu, make another drink."""
_ALSO_CALLED = {
    "drip(?! coffee)": "drip coffee", "filter(?! coffee)": "filter coffee",
    "(?:hot choc|choccy)": "hot chocolate",
    "flattie": "flat white", "capp?a?": "cappuccino", "espresso macchiato": "macchiato",
    "herbal": "herbal tea", "green(?! (?:iced )?tea)": "green tea", "peppermint": "peppermint tea",
    "mint tea": "peppermint tea", "(?:builder'?s|(?:english )?breakfast) tea": "black tea",
    "(?:long black|black americano)": "americano", "brewed coffee": "filter coffee",
    "(?:still|sparkling) water": "water", "green iced tea": "iced green tea", "ice(?= )": "iced",
    "decaffeinated": "decaf", "(?:normal|actual) ": "",
    "cham?omile(?: tea)?": "chamomile tea", "camomile(?: tea)?": "chamomile tea",
    "chai tea latte": "chai latte", "white chocolate": "white", "cuppa(?: tea)?": "tea",
    "frapp?uccino": "frappe", "(?:warm|hot) milk": "steamed milk",
}  # fmt: skip
"""Pattern of another name for a drink → its name on the menu."""
ANY = ShopConfig()
"""A shop that sells everything and has no prices."""
SIZES = ("small", "medium", "large", "extra large", "regular", "tall", "big", "short")
_MILKS = ("whole", "skimmed", "oat", "almond", "soy", "coconut")
_SYRUPS = ("vanilla", "caramel", "hazelnut")
_SWEETENERS = (*_SYRUPS, "honey", "sugar")
_READ_OUT = 14
"""How many drinks, from the first, are named when the menu is asked for."""

_DO_YOU_HAVE = re.compile(
    r"\b(?:(?:do|have|can) (?:you|i|we)(?: guys)? (?:have|got|get|do|sell|serve|make|offer)"
    r"|have you(?: got)?|got) (?:any |some |an? |the )?(?P<thing>[\w ']+)"
)
_NO_THING = re.compile(r"(?:(?:down|for|me|us|now|here|there|today|left|in|on|up|so|far)(?: |$))+")
"""Words that name nothing that could be sold: "how many have you got down for me"."""
_FOOD = re.compile(
    r"\b(?:food|eat|nibble|munch|cakes?|pastr\w+|muffins?|croissants?|sandwich\w*|toasties?|cookies?|snacks?"
    r"|bagels?|scones?|biscuits?|brownies?|bread|rolls?)\b"
)
_PRICE = re.compile(
    r"\b(?:prices?|costs?|total|charge|come to|expensive|cheap|pay(?:ing)?|owe"
    r"|how much(?: is| are|'?s| was| will| would| for| do| more| extra|\W*$)"
    r"|(?:is|are)(?: \w+){1,4} extra|what (?:would|will) (?:\w+ ){1,4}be (?:on top|extra|more))\b"
)
_READ = 200
"""Most characters of a question that are searched for additions."""
_READY = re.compile(
    r"\b(?:ready|how long|how (?:many|much) (?:more )?(?:minutes|time|longer)|how soon"
    r"|(?:take|be) (?:very |too )?long"
    r"|when (?:will|can|is|do|should) (?:it|that|this|i|we|they|my|the order))\b"
)
_KINDS = (
    (_READY.pattern, "Sorry, I do not know how long it takes."),
    (r"\b(?:what|which|how many|kinds? of) sizes?\b|\bhow (?:big|large|small)\b"
     r"|\b(?:bigg|larg|small)est\b",
     "The sizes are small, medium, large and extra large. I do not know what they hold."),
    (r"\b(?:what|which|kinds? of) (?:\w+ )?milks?\b",
     f"We have {phrasing.joined(_MILKS)} milk."),
    (r"\b(?:what|which|kinds? of) (?:syrups?|flavou?rs?|sweeteners?)\b",
     f"We have {phrasing.joined(_SWEETENERS)}."),
)  # fmt: skip
_MENU_ASKED = re.compile(
    r"\b(?:menu|recommend|suggest|what drinks|what (?:do|have|would|can) you"
    r"(?: (?:guys|all|folks))?(?: (?:have|got|get|do|sell|serve|offer|order|drink))?"
    r"|what (?:is there|there is|can (?:i|we)(?: (?:have|get|order))?))"
    r"(?: (?:here|there|today|to drink))?\W*$"
    r"|\b(?:menu|recommend)\b"
)
_WHICH = re.compile(
    r"\b(?:what|which)(?: (?:kinds?|sorts?|types?) of)? (?P<kind>[\w ]+?) (?:do|have|can|are|is)\b"
)
_GOES_ON = re.compile(r"(?:and|or|what about|how about) (?!.*\b(?:please|thanks)\b)")
"""The beginning of a question that continues the one before: "and a small one"."""
_SIZE = re.compile(rf"\b(?:{'|'.join(SIZES)}) ?\b")
_DRINK = re.compile(
    rf"\b(?P<name>(?:(?:{'|'.join(STYLES)}) )*"
    rf"(?:{'|'.join(sorted(MENU, key=len, reverse=True))}))(?:e?s)?\b"
)
"""A drink of the menu with its style: "iced matcha latte"."""
_WHAT_IT_IS = re.compile(
    r"\bwhat(?:'s| is| are|s) (?:in |the difference|an? |the )|\b(?:made of|made with|consist)"
)


def offered(name: str) -> bool:
    """Whether a drink, in the singular, is on the menu, plain or in some of the `STYLES`."""
    if name in MENU:
        return True
    return any(
        name.endswith(f" {drink}")
        and all(word in STYLES for word in name.removesuffix(drink).split())
        for drink in MENU
    )


def drink_named(said: str) -> str:
    """A spoken drink, in the singular.

    Raises:
        Unreadable: It is not on the menu.
    """
    name = in_full(re.sub(r"^(?:an?|the|cups? of|some)\s+", "", singular(bare(said))))
    if offered(name):
        return name
    close = difflib.get_close_matches(name, MENU, n=1, cutoff=0.8)
    if not close:
        raise Unreadable("drink", said, not_offered(said))
    return close[0]


def in_full(name: str) -> str:
    """A drink by its name on the menu, if it has one: "hot choc", "coffee black".

    >>> in_full("decaf drip"), in_full("tea green"), in_full("latte")
    ('decaf drip coffee', 'green tea', 'latte')
    """
    *first, last = name.split() or [""]
    short = name
    for called, meant in _ALSO_CALLED.items():
        short = re.sub(rf"\b{called}\b", meant, short)
    return next((one for one in (name, short, " ".join((last, *first))) if offered(one)), name)


def not_offered(said: str, shop: ShopConfig = ANY) -> str:
    """A sentence that refuses a drink that is not on the menu and offers the nearest ones."""
    name = bare(said)
    if {*name.split()} <= {*SIZES, *STYLES, "one", "extra", "it", "that", "them"}:
        return "Which drink would you like?"
    if _FOOD.search(name):
        return f"Sorry, we only have drinks, no {name}."
    menu = [one for one in MENU if sold(one, shop)]
    have = phrasing.joined([f"a {one}" for one in near(said, shop)] or menu[:6], last="or")
    missing = name if 1 <= len(name.split()) <= 3 else "that"
    return f"Sorry, we do not have {missing}. Would you like {have}?"


def near(said: str, shop: ShopConfig) -> list[str]:
    """Up to three drinks of the menu that share a word with what was said."""
    words = {singular(word) for word in bare(said).split()}
    return [one for one in MENU if words & {*one.split()} and sold(one, shop)][:3]


def answer(question: str, shop: ShopConfig) -> str:
    """The answer that the shop and the menu give to a question.

    Raises:
        ToolError: They do not answer it.
    """
    said = question.lower().replace("’", "'")
    if known := answers_to(shop.answers, question):
        return " ".join(known)
    if _FOOD.search(said):
        return "We only have drinks, nothing to eat."
    if _PRICE.search(said):
        return prices(said, shop)
    for pattern, told in _KINDS:
        if re.search(pattern, said):
            return told
    drinks = named_in(said)
    if _WHAT_IT_IS.search(said) and (known := [one for one in drinks if MENU.get(one)]):
        return " ".join(f"{phrasing.sentence(_a(one))} is {MENU[one]}." for one in known)
    menu = [drink for drink in MENU if sold(drink, shop)]
    if (which := _WHICH.search(said)) and (kinds := _kinds_of(which["kind"], menu)):
        return f"We have {phrasing.joined(kinds)}."
    if _MENU_ASKED.search(said) and not drinks:
        return f"We have {phrasing.joined(menu[:_READ_OUT])}."
    if asked := _DO_YOU_HAVE.search(said):
        return _has(asked["thing"], shop)
    things = [f"the {one}" for one in drinks]
    raise ToolError(
        f"Sorry, I do not know that{f' about {phrasing.joined(things)}' if things else ''}."
    )


def asks_the_price(message: str) -> bool:
    """Whether a message asks for a price."""
    return _PRICE.search(message.lower()) is not None


def names_none(message: str, shop: ShopConfig) -> bool:
    """Whether a message names no drink and nothing that is added to one."""
    return not (named_in(message.lower()) or _extras(message.lower(), shop))


def asked_on(message: str, before: Sequence[str], shop: ShopConfig) -> str:
    """A message completed by the question for a price that it continues; empty if there is none.

    >>> asked_on("and a small one", ["how much is a large latte"], ANY)
    'how much is a latte and a small one'
    """
    said = message.lower()
    asked = next((one.lower() for one in before if not _GOES_ON.match(one.lower())), "")
    if not (_GOES_ON.match(said) and _PRICE.search(asked)):
        return ""
    if named_in(said) or (_extras(said, shop) and not named_in(asked)):
        return f"how much is {said}"
    if not named_in(asked):
        return ""
    if shot := re.search(r"\b(?:double|triple|quadruple)\b", said):
        return f"{asked} with a {shot[0]} shot"
    if _SIZE.search(said):
        return f"{_SIZE.sub('', asked)} {said}"
    return f"{asked} {said}" if _extras(said, shop) else ""


def asks_when_ready(message: str) -> bool:
    """Whether a message asks when an order will be ready."""
    return _READY.search(message.lower()) is not None


def sold(name: str, shop: ShopConfig) -> bool:
    """Whether a shop sells a drink of the menu; a shop without prices sells them all."""
    return not shop.prices or _priced(name, shop) is not None


def price(name: str, parts: str, shop: ShopConfig) -> Decimal | None:
    """The price of a drink with its size and additions, ``parts``; None if it is unknown.

    A matcha latte, which is two drinks of the menu, costs as much as the dearer one.
    """
    base = _priced(name, shop)
    if base is None:
        return None
    styles = named_in(name.removesuffix(base))
    costs = max(shop.prices.get(one, Decimal(0)) for one in (base, *styles))
    whole = _completed(parts)
    return costs + sum((_times(part, whole) * more for part, more in shop.more.items()), Decimal(0))


def _priced(name: str, shop: ShopConfig) -> str | None:
    """A drink's name in the list of prices, "latte" for an iced vanilla latte; None if absent."""
    called = (one for one in (*MENU, *shop.prices) if f" {name}".endswith(f" {one}"))
    base = max(called, key=len, default="")
    return base if base in shop.prices else None


def _times(part: str, parts: str) -> int:
    """How often to charge for an addition: once for "a double shot", as a drink has one shot."""
    found = re.search(rf"(?:\b(?P<many>\w+) )?(?:extra )?\b{re.escape(part)}s?\b", parts)
    if found is None:
        return 0
    many = found["many"] or ""
    return int(many) if many.isdigit() else {"triple": 2, "quadruple": 3}.get(many, 1)


def prices(said: str, shop: ShopConfig) -> str:
    """The prices of the drinks that a question names, or of the first three in the list.

    If it names one drink, what it adds ("with oat milk") is included.
    """
    if not shop.prices:
        return "Sorry, I do not know the prices."
    drinks = list(dict.fromkeys(found["name"] for found in _DRINK.finditer(said)))
    if not drinks and (alone := _extras(said, shop)):
        each = [f"extra {one} costs {money(shop.more[one], shop.currency)}" for one in alone]
        return f"{phrasing.sentence(phrasing.joined(each))}."
    if not drinks and re.search(r"\b(?:more|extra)\b", said):
        raise ToolError("Sorry, I do not know whether that costs more.")
    size = next((one for one in sorted(SIZES, key=len)[::-1] if re.search(rf"\b{one}\b", said)), "")
    beside = digits(_completed(_DRINK.sub("", said)), fractions=False)
    parts = beside if len(drinks) == 1 else size
    extras = map(re.escape, _extras(parts, shop))
    many = r"(?:\b(?:\d+|a (?:double|triple|quadruple)) )?"
    found = (re.search(rf"{many}\b{part}s?\b", parts) for part in extras)
    added = phrasing.joined([match[0] for match in found if match])
    behind = f" with {added}" if added else ""
    costs = ((one, price(one, parts, shop)) for one in drinks or [*shop.prices][:3])
    named = ((_a(f"{size} {one}{behind}".strip()), cost) for one, cost in costs)
    told = [f"{name} is {money(cost, shop.currency)}" for name, cost in named if cost is not None]
    if not told:
        return not_offered(drinks[0], shop)
    return f"{phrasing.sentence(phrasing.joined(told))}."


def _completed(said: str) -> str:
    """Words with every milk and syrup called so, as they stand in the list of prices."""
    whole = re.sub(rf"\b({'|'.join(_MILKS)})\b(?! milk)", r"\1 milk", said[:_READ])
    syrups = rf"\b({'|'.join(_SYRUPS)})\b(?! (?:syrup|milk|drizzle|sauce))"
    return re.sub(syrups, r"\1 syrup", whole)


def _extras(said: str, shop: ShopConfig) -> list[str]:
    """The additions with a price that some words name."""
    whole = _completed(said)
    extras = (part for part in shop.more if part not in SIZES)
    return [part for part in extras if re.search(rf"\b{re.escape(part)}s?\b", whole)]


def _kinds_of(said: str, menu: list[str]) -> list[str]:
    kind = singular(bare(said))
    if kind == "cold drink":
        return [one for one in menu if is_cold(one)]
    return [one for one in menu if one == kind or one.endswith(f" {kind}")]


def is_cold(label: str) -> bool:
    """Whether a drink is never hot."""
    return re.search(r"\b(?:iced|cold|frappe|lemonade|water)\b", label) is not None


def named_in(said: str) -> list[str]:
    """The drinks of the menu that some words name, in that order, each by its longest name."""
    found: list[str] = []
    for drink in sorted(MENU, key=len, reverse=True):
        if re.search(rf"\b{drink}(?:e?s)?\b", said) and not any(drink in one for one in found):
            found.append(drink)
    return sorted(found, key=said.find)


def _has(thing: str, shop: ShopConfig) -> str:
    name = singular(bare(thing))
    if _NO_THING.fullmatch(name):
        raise ToolError("Sorry, I do not know that.")
    milks = "|".join((*_MILKS, "soya", "skim"))
    sells = offered(name) and sold(name, shop)
    if sells or name in (*STYLES, *SIZES, *_SWEETENERS) or re.match(rf"(?:{milks})\b", name):
        return f"Yes, we have {thing.strip()}."
    return not_offered(thing, shop)


def bare(said: str) -> str:
    """Words in lower case, without the article before them."""
    return re.sub(r"^(?:the|my|that|one|an?)\s+", "", said.lower().strip().rstrip("."))


def singular(name: str) -> str:
    """The singular; no drink on the menu ends in a single s."""
    return name if name.endswith("ss") else re.sub(r"(?<=[^s])s$", "", name)


def plural(name: str) -> str:
    """The plural of a drink."""
    return name + ("es" if name.endswith(("ch", "ss", "x")) else "s")


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
