"""Reads the details of a drink as people say them: size, roast, milk, shots, sweetener, extras.

Spoken values are tidied into the words with which a cup would be labelled. `coffee_menu` knows the
drinks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from num2words import num2words

from voice.tools import phrasing
from voice.tools.builtin.coffee_menu import SIZES, STYLES, named_in, offered, singular
from voice.tools.registry import Readable, ToolError, Unreadable
from voice.tools.scope import Drink
from voice.tools.spoken_numbers import amount, digits

_NONE = ("no", "none", "nothing", "without", "black", "plain")
_LEAVING_OUT = ("hold", "skip", "leave", "minus", "don't", "dont", "drop", "lose", "remove")
_MANY_SHOTS = ("single", "double", "triple", "quadruple")
_MOST = 50
_SIZES_SAID = {
    "sm": "small", "sml": "small", "smallest": "small", "kiddie": "small", "kids": "small",
    "kid's": "small", "kids'": "small", "wee": "small", "md": "medium",
    "med": "medium", "middle": "medium", "grande": "medium", "lg": "large", "lge": "large",
    "lrg": "large", "lrge": "large", "larg": "large", "largest": "extra large",
    "biggest": "extra large",
    "venti": "large", "xl": "extra large",
}  # fmt: skip
"""Sizes in short, as people type them, or as other shops call them."""
_ROASTS = (
    r"(?:dark|light|blonde?|french|italian|vienna|strong|mild)(?:ly)?(?: roast(?:ed)?)?",
    r"medium roast(?:ed)?", "decaf(?:feinated)?", "half caf", "house blend",
)  # fmt: skip
_MILKS = (
    r"(?:oat|almond|soya?|coconut|rice|cashew|macadamia|hazelnut|goat|whole|skim(?:med)?|regular"
    r"|semi skimmed|non ?fat|fat free|low fat|full fat|lactose free|dairy|\d(?: ?%| percent)"
    r"|condensed|evaporated)(?: ?milk)?",
    "skinny", r"(?:normal )?milk|\d+ milks", "(?:heavy )?cream", "creamer", "half and half",
)  # fmt: skip
_UNIT = r"(?:pumps?|(?:tea|table)?spoon(?:ful)?s?|packets?|sachets?|cubes?)"
"""Units in which sweeteners are measured."""
_SHOTS = (
    rf"(?:\d+(?! {_UNIT})|single|double|triple|quadruple)(?: (?:extra )?shots?)?(?: of espresso)?",
    "(?:extra )?shots?(?: of espresso)?",
)  # fmt: skip
_FLAVORS = "vanilla|caramel|hazelnut|chocolate|maple|lavender|peppermint|toffee"
_SWEETENERS = (
    rf"(?:sugar free )?(?:{_FLAVORS}|simple)(?: (?:syrups?|sweetener))?", "syrups?", "sugars?",
    "honey", "sweeteners?", "stevia", "agave", "splenda", "(?:half|less) sweet(?:ened)?",
    rf"\d+ {_UNIT}$",
)  # fmt: skip
_EXTRAS = (
    rf"(?:{_FLAVORS})(?: (?:sauce|drizzle|flavou?r(?:ing)?|powder|chips|sprinkles|shavings))?",
    "whip(?:ped)?(?: cream)?", "cream", "foam", "froth", "ice", "cinnamon", "cocoa(?: powder)?",
    "nutmeg", "ginger", "mint", "lemon", "marshmallows?", "sprinkles", "to go", "take ?away",
    "(?:extra|very|not too) hot", "(?:a )?(?:lid|straw|sleeve)", "room(?: for (?:milk|cream))?",
)  # fmt: skip
_MEASURES = (
    *_NONE, *_LEAVING_OUT, "with", "and", "in", "an?", "some", "more", "extra", "less", "the",
    "any", "one", "just", "half", "light", "hot", "cold", "warm", "steamed", "added", r"\d+",
    r"0\.5", "bit", "little", "touch", "dash", "splash", "lots?", "shots?",
    _UNIT, "of", "brown", "white", "raw", "artificial", "out", "off",
)  # fmt: skip
"""Words that say how much of something is wanted, but not what it is."""
_PRAISE = (
    "nice", "good", "lovely", "normal", "proper", "quick", "real", "strong", "weak", "usual",
    "ordinary", "standard", "fresh", "decent", "tiny", "huge", "of",
    "(?:cup|mug|glass|bottle|can|pot|jug|pair|couple|round)(?:e?s)?", "of those", "to",
    r"(?:\d\d? )?(?:ounces?|oz)",
    "um+", "uh+", "erm?", "sweet", "second", "third", "other",
)  # fmt: skip
_CLAUSE = re.compile(
    r".*\b(?:is|wants?|ha(?:ve|s|ving)|gets?|likes?|takes?(?! away)|drinks?|needs?|orders?"
    r"|and|with|for) "
)
"""The words up to the last one after which a drink is named."""
_KNOWN = re.compile(
    "(?:(?:"
    + "|".join(
        (
            *SIZES,
            *_SIZES_SAID,
            "sized?",
            *STYLES,
            *_MILKS,
            *_ROASTS,
            *_SHOTS,
            *_SWEETENERS,
            *_EXTRAS,
            *_MEASURES,
            *_PRAISE,
        )
    )
    + ") ){0,4}"
)


def is_flavor(said: str) -> bool:
    """Whether words are a flavor that drinks are made with: "caramel"."""
    return re.fullmatch(_FLAVORS, said) is not None


def are_known(words: str) -> bool:
    """Whether all words before a drink of the menu are known, so that none makes another drink.

    Args:
        words: Up to four words in lower case, each followed by a blank.
    """
    clause = _CLAUSE.match(words)
    return _KNOWN.fullmatch(words, clause.end() if clause else 0) is not None


def _naming(kind: str, *named: str) -> Readable:
    """Reads words that name something of a kind and how much of it, and say nothing else.

    The tool itself also accepts other words: it only keeps a model from copying them.
    """
    words = "|".join(dict.fromkeys((*named, *_MEASURES)))
    # Without the limit it would take exponential time: "half and half" is both one name and three.
    whole = re.compile(rf"\A(?=.*(?<!\S)(?:{'|'.join(named)})(?!\S))(?:(?:{words})(?: |$)){{1,12}}")

    def read(said: str, _: datetime) -> None:
        # Words that go on are no value: "a shot of" whiskey, the "syrup out of the caramel".
        goes_on = re.search(r"^of\b|\b(?:of|and|with|in|the|an?)$|\b(?:out|off) \w", said.lower())
        if goes_on or not whole.fullmatch(digits(said, fractions=False)):
            raise Unreadable(kind, said)

    return Readable(read, whole=False, refuses=False)


def size(said: str) -> str:
    """A cup's size: "small", "sixteen ounce"; empty for none.

    Raises:
        ToolError: It cannot be read.
    """
    size = re.sub(r"^(?:an?|the)\s+|\s?-?(?:sized|size|cup|one)$", "", digits(said))
    size = _SIZES_SAID.get(size, size)
    if not size or size in SIZES:
        return size
    if match := re.fullmatch(r"(\d{1,2}) ?-?(?:ounces?|oz)", size):
        # The number in words: "1 16 ounce latte" would be heard as 116.
        return f"{num2words(int(match[1]))} ounce"
    raise Unreadable("size", said)


def roast(said: str) -> str:
    """A roast with its full name: "dark roast"."""
    roast = re.sub(r"(?:ly)? roast(?:ed)?$", "", said.lower().strip())
    if not roast or roast in ("decaf", "half caf", "house blend"):
        return roast
    return f"{roast} roast"


def shots(said: str) -> str:
    """A number of shots: "2 shots", "a double shot".

    Raises:
        ToolError: It cannot be read.
    """
    shots = re.sub(r"^with\s+|\s+of espresso$", "", digits(said))
    shots = re.sub(r"^an?\s+(?=\w)|(?<=\w) 1$", "", shots).replace("dbl", "double")
    shots = re.sub(rf"^({'|'.join(_MANY_SHOTS)})s$", r"\1", shots)
    if not shots or shots.split()[0] in _NONE:
        return ""
    if re.fullmatch(r"\d+", shots):
        return phrasing.counted(int(shots), "shot")
    if shots == "shot":
        return "1 shot"
    first = shots.split()[0]
    if shots == first and first in (*_MANY_SHOTS, "extra"):
        shots = f"{first} shot"
    if re.fullmatch(r"\d+ extra", shots):
        return phrasing.counted(int(first), "extra shot")
    if not re.search(r"\bshots?$", shots):
        raise Unreadable("number of shots", said)
    if first == "extra" and shots.endswith("shot"):
        return f"an {shots}"
    return f"a {shots}" if first in _MANY_SHOTS else shots


def milk(said: str) -> str:
    """A kind of milk: "oat milk", "cream"."""
    milk = re.sub(r"\bskinny\b", "skim", addition(said))
    if not milk or re.search(r"\b(?:milks?|cream|half and half|creamer)\b", milk):
        return milk
    return f"{milk} milk"


def addition(said: str) -> str:
    """Something that is added, with its amount: "2 sugars"; empty for none."""
    text = re.sub(r"^(?:with|and)\s+", "", digits(said, fractions=False))
    text = re.sub(r"^an?\s+(?=shot|spoon|teaspoon|packet|splash|bit|little|lot)", "1 ", text)
    text = re.sub(r"^1 (?=bit|little|lot|splash)", "a ", text)
    return "" if not text or text.split()[0] in _NONE else text


def sized(drink: str) -> tuple[str, str]:
    """A drink's size, empty for none, and its name: "kids" and "hot chocolate"."""
    first, _, name = drink.partition(" ")
    is_size = first.lower() in SIZES or first.lower() in _SIZES_SAID
    return (first, name) if name and is_size else ("", drink)


def extra(said: str) -> str:
    """Something that is added, or that the drink is to lack: "no ice"; empty for none."""
    if not said or not _is_none(said):
        return addition(said)
    what = " ".join(_words_of_what(said))
    return f"no {what}" if what else ""


def count(said: str) -> int:
    """The number of drinks; 1 if nothing was said.

    Raises:
        ToolError: It cannot be read, or is too high.
    """
    if not said:
        return 1
    text = "1" if said.lower().strip() in ("another", "one more", "just one") else said
    text = re.sub(r"^(?:a )?pair\b", "two", re.sub(r"(?<=\d)\s?x$|^x\s?(?=\d)", "", text.lower()))
    text = re.sub(r"(?<!\s)\s+(?:more|of|of them|of those|please)$", "", text)
    value = amount(text, "quantity")
    if value != value.to_integral_value() or value < 1:
        raise Unreadable("quantity", said)
    if value > _MOST:
        raise ToolError(f"I can take {_MOST} of a drink at most.")
    return int(value)


def replaced(said: str, before: str, read: Callable[[str], str]) -> str:
    """A detail after a change: as before if nothing was said of it, empty for "no milk"."""
    if not said:
        return before
    return "" if _is_none(said) else read(said)


def of_the_same(said: str, before: str) -> str:
    """The words for a sweetener; an amount alone, "two pumps", is of the sweetener before."""
    if not before or not re.fullmatch(rf"\d+ {_UNIT}", digits(said)):
        return said
    return f"{said} of {singular(re.sub(rf'^(?:an?|[0-9]+) (?:{_UNIT} of )?', '', before))}"


def with_extras(said: str, before: str) -> str:
    """The extras after a change that adds the spoken ones, or removes them: "no ice"."""
    kept = before.split(" and ") if before else []
    if not said:
        return before
    if _is_none(said):
        gone = set(_words_of_what(said))
        left = [one for one in kept if one.startswith("no ") or not gone & set(one.split())]
        return " and ".join(left) if gone else ""
    new = addition(said)
    return " and ".join([*(one for one in kept if one not in (new, f"no {new.split()[-1]}")), new])


def without(drink: Drink, *said: str) -> Drink:
    """A drink without the things that words say to leave out, whichever detail has them."""
    gone = {word for one in said if one and _is_none(one) for word in _words_of_what(one)}
    left = {
        of: " and ".join(
            one
            for one in getattr(drink, of).split(" and ")
            if one.startswith("no ") or gone.isdisjoint(one.split())
        )
        for of in ("milk", "sweetener", "extras", "shots")
    }
    return replace(drink, **left)


def changed(drink: Drink, said: Mapping[str, str]) -> Drink:
    """A drink with spoken details, by field of `Drink`, in place of its own.

    Raises:
        ToolError: One cannot be read.
    """
    new = replace(
        drink,
        size=size(said["size"]) or drink.size,
        roast=replaced(said["roast"], drink.roast, roast),
        shots=replaced(said["shots"], drink.shots, shots),
        milk=replaced(said["milk"], drink.milk, milk),
        sweetener=replaced(
            of_the_same(said["sweetener"], drink.sweetener), drink.sweetener, addition
        ),
        extras=with_extras(said["extras"], drink.extras),
    )
    # The cream of "no cream" may be an extra or the milk.
    lacks, no = extra(said["extras"]), (said["milk"], said["sweetener"], said["extras"])
    less = new if new != drink else without(drink, *no)
    if less != new or new.extras != drink.extras or not lacks or lacks in drink.extras:
        return less
    return replace(new, extras=" and ".join(filter(None, (drink.extras, lacks))))


def _is_none(said: str) -> bool:
    words = said.lower().split()
    return words[0] in (*_NONE, *_LEAVING_OUT) or words[-1] in ("off", "out")


def _words_of_what(said: str) -> list[str]:
    """The words for what is to be left out: "hold the whipped cream" → whipped, cream."""
    small = (*_NONE, *_LEAVING_OUT, "the", "any", "want", "off", "out", "extras", "of")
    return [word for word in said.lower().split() if word not in small]


_HOT_OR_COLD = {"iced": "iced", "cold": "iced", "hot": "hot"}
_NOUN = re.compile(r" (?:syrup|milk|sauce|drizzle)s?$")


def in_words(part: str, said: str) -> str:
    """The words for a field of `Drink` as a question says them: "no sugar", "oat milk".

    Raises:
        ToolError: They cannot be read.
    """
    return (_is_none(said) and extra(said)) or _PARTS[part][1](said) or said


def detail(said: str) -> tuple[str, str]:
    """The field of `Drink` to which words belong, and its label: "name" and "iced" for "iced".

    Raises:
        Unreadable: They are not a detail of a drink.
    """
    if said in _HOT_OR_COLD:
        return "name", _HOT_OR_COLD[said]
    if named_in(said):
        raise Unreadable("detail", said)
    for part, (_, label) in _PARTS.items():
        if not digits(said).isdigit() and _reads(part, said):
            return part, label(said)
    raise Unreadable("detail", said)


def swapped(drink: Drink, old: str, new: str) -> Drink | None:
    """A drink with a new detail in place of an old one, or added if ``old`` is empty.

    None if the drink does not have the old one.

    Raises:
        Unreadable: The new one is not a detail of a drink.
    """
    part, value = detail(new)
    if part == "name" and old in ("", "hot", "iced", "cold"):
        name = drink.name.removeprefix("iced ")
        return replace(drink, name=f"iced {name}" if value == "iced" else name)
    if not old:
        return _given(drink, part, value)
    for key in filter(None, (old, _NOUN.sub("", old))):
        for of in ("name", *_PARTS):
            found = re.search(rf"\b{re.escape(key)}s?\b", getattr(drink, of))
            if found is None:
                continue
            if of == "name":
                name = re.sub(rf"\b{re.escape(key)}\b", new, drink.name)
                return replace(drink, name=name) if offered(name) else None
            return _put(drink, of, found[0], new)
    # A drink without any yet gets the new one: "swap the milk for almond".
    return _given(drink, part, value) if old == part else None


def _given(drink: Drink, part: str, value: str) -> Drink:
    """A drink with a detail, which replaces the one before; an extra is added to the others."""
    before = getattr(drink, part)
    return replace(drink, **{part: with_extras(value, before) if part == "extras" else value})


def _put(drink: Drink, of: str, old: str, new: str) -> Drink:
    """A drink whose field ``of`` has new words in place of old ones."""
    part, value = (of, _PARTS[of][1](new)) if _reads(of, new) else detail(new)
    pieces = getattr(drink, of).split(" and ") if of == "extras" else [getattr(drink, of)]
    kept = [piece for piece in pieces if old not in piece]
    gone = next(piece for piece in pieces if old in piece)
    if part != of:
        return _given(replace(drink, **{of: " and ".join(kept)}), part, value)
    noun = gone[gone.index(old) + len(old) :]
    value = value if value.endswith(noun) else value + noun
    return replace(drink, **{of: " and ".join((*kept, value))})


def _reads(part: str, said: str) -> bool:
    try:
        _PARTS[part][0].__metadata__[0].read(said, datetime.min)
    except ToolError:
        return False
    return True


Size = Annotated[str, Readable(lambda said, _: size(said))]
Roast = Annotated[str, _naming("roast", *_ROASTS)]
Milk = Annotated[str, _naming("milk", *_MILKS)]
Shots = Annotated[str, _naming("number of shots", *_SHOTS)]
Sweetener = Annotated[str, _naming("sweetener", *_SWEETENERS)]
Extra = Annotated[str, _naming("extra", *_EXTRAS)]
Quantity = Annotated[str, Readable(lambda said, _: count(said), counts=True)]

_PARTS: Mapping[str, tuple[Any, Callable[[str], str]]] = {
    "size": (Size, size), "roast": (Roast, roast), "milk": (Milk, milk), "shots": (Shots, shots),
    "sweetener": (Sweetener, addition), "extras": (Extra, extra),
}  # fmt: skip
"""Field of `Drink` → the type that reads it, and the function that makes its label."""
Detail = Annotated[str, Readable(lambda said, _: detail(said))]
