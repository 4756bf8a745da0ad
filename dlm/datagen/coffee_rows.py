"""Orders of the Taskmaster coffee dialogues in terms of our ``order_drink``.

What the customer said is read by a small lexicon; what it does not know refuses the row, so that no
order is half understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from dlm.datagen import holdout
from dlm.datagen.grammar import Piece
from dlm.datagen.spans import pieces, tokens

FILES = ("taskmaster4_coffee", "taskmaster_reward_good")

_DRINKS = """
latte, lattes, cappuccino, cappuccinos, americano, americanos, mocha, mochas, macchiato,
macchiatos, cortado, cortados, espresso, espressos, steamer, steamers, flat white, flat whites,
cold brew, chai latte, chai lattes, matcha latte, matcha lattes, chai tea latte, matcha tea latte,
hot chocolate, hot chocolates, drip coffee, coffee, coffees, iced coffee, iced tea, green tea,
black tea, chai, chai tea, earl grey, earl grey tea, english breakfast, english breakfast tea,
wild strawberry tea, wild strawberry, peppermint rose tea, peppermint rose, ginger green tea,
ginger green cold steep tea, ginger cold steep tea, cold steep tea, peppermint tea, white mocha,
mocha latte, caramel macchiato, vanilla latte, caramel latte, hazelnut latte, matcha, tea, iced
matcha latte, jasmine tea, jasmine, chamomile tea, chamomile
"""
_BEFORE = frozenset(
    ("iced", "decaf", "hot", "decaffeinated", "vanilla", "caramel", "hazelnut", "chocolate", "chai")
)
_MILKS = """
oat milk, almond milk, soy milk, whole milk, skim milk, coconut milk, 2% milk, two percent milk,
non-fat milk, nonfat milk, non fat milk, regular milk, half and half, cream, 1% milk, low-fat
milk, low fat milk, 2%, non-fat, nonfat, non fat, oatmilk, almond-milk, oat-milk, soymilk, milk,
fat free milk, fat-free milk, heavy cream, steamed milk, 2 percent milk
"""
_AMOUNTS = """
a pump of, one pump of, two pumps of, three pumps of, a splash of, extra, some, a little, light, a
bit of, a shot of, two shots of, 2 pumps of, a packet of, two packets of, one, two, three, a lot
of, a touch of, a dash of, lots of, 3 pumps of, 1 pump of, added
"""
_SWEET = """
vanilla syrup, caramel syrup, hazelnut syrup, chocolate syrup, sugar, sugars, honey, agave,
stevia, sweetener, vanilla sweetener, hazelnut sweetener, caramel sweetener, brown sugar, splenda,
sugar free vanilla, sugar-free vanilla, raw sugar, simple syrup
"""
_EXTRAS = """
vanilla, caramel, hazelnut, chocolate, caramel sauce, chocolate sauce, whipped cream, cinnamon,
foam, no foam, extra foam, ice, light ice, no ice, caramel drizzle, whip, no whip, lemon,
chocolate drizzle, ginger, mint, vanilla sauce, hazelnut sauce, vanilla flavoring, hazelnut
flavoring, extra hot, vanilla flavor, caramel flavor, hazelnut flavor, chocolate flavor
"""
_SIZES = """
small, medium, large, tall, grande, venti, 12 ounce, 16 ounce, twelve ounce, 12 oz, 16 oz
"""
_SHOTS = """
single, double, triple, a double shot, a single shot, single shot, double shot, an extra shot,
extra shot, two shots, a triple shot, three shots, two extra shots, triple shot, one shot, a shot
of espresso, an extra shot of espresso, a shot
"""
_COUNTS = "two, three, four, five, 2, 3, 4, 5"
_PLAIN_WORDS = """
1 a add afternoon also am an and be beverage bring buddy but buy can could cup do drink evening
for friend get give go going gonna good grab greetings has have hello help here hey hi howdy i i'd
i'll i'm id if ill in is it it's its just let let's lets like love made make may me morning my
need now of off ok okay on one order ordering pick place please plus possible purchase put ready
right sir so some start take thank thanks that the there this to today try uh um up us use want
wanting we we'd which will with would would've yeah yes you
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())


def _words(text: str) -> list[list[str]]:
    entries = [tokens(entry.strip()) for entry in " ".join(text.split()).split(",")]
    return sorted((e for e in entries if e), key=len, reverse=True)


_LEXICON = [
    ("milk", _words(_MILKS)), ("sweetener", _words(_SWEET)), ("extras", _words(_EXTRAS)),
    ("shots", _words(_SHOTS)), ("size", _words(_SIZES)),
]  # fmt: skip
_NAMES = _words(_DRINKS)
_QUANTITIES = _words(_AMOUNTS)
_NUMBERS = {word[0] for word in _words(_COUNTS)}


def orders(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, list[Piece]]]:
    """What customers order in one sentence, with its pieces.

    Args:
        rows: Dialogues of the files.

    Yields:
        The sentence, and its pieces whose slots are parameters of ``order_drink``.
    """
    seen = set()
    for row in rows:
        before: list[str] = []
        for message in row["messages"]:
            if message["role"] == "user" and message["content"]:
                before.append(message["content"])
            names = [c["name"] for c in message.get("tool_calls") or ()]
            if "add_order_item" in names or "get_menu_items" in names:
                if len(before) == 1 and before[0] not in seen:
                    seen.add(before[0])
                    found = read(before[0])
                    if found is not None:
                        yield before[0], found
                break


def read(text: str) -> list[Piece] | None:
    """An order in pieces; None where it holds a word that the lexicon does not know."""
    plain = re.sub(r"[.,?!;:]+(?=\s|$)", "", text.replace("'s ", "s ").replace("/", " "))
    words = tokens(plain)
    if not 1 <= len(words) <= 22 or not all(words):
        return None
    drink = _drink(words)
    if drink is None:
        return None
    found = {"drink": drink}
    taken = set(range(*drink))
    for slot, entries in _LEXICON:
        for span in _all(words, entries, taken):
            if slot in found:
                return None
            found[slot] = _widened(words, span, taken) if slot != "size" else span
            taken |= set(range(*found[slot]))
    if "shots" in found and found["shots"][1] == drink[0] and words[found["shots"][0]] == "a":
        found["shots"] = (found["shots"][0] + 1, drink[0])
    at = drink[0] - 1
    if at >= 0 and words[at] in _NUMBERS and at not in taken:
        found["quantity"] = (at, at + 1)
        taken.add(at)
    rest = [w for i, w in enumerate(words) if i not in taken]
    return pieces(plain, found) if all(w in _PLAIN for w in rest) else None


def _drink(words: list[str]) -> tuple[int, int] | None:
    """The one drink: its longest name, with what stands right before it and belongs to it."""
    spans = list(_all(words, _NAMES, set()))
    if len(spans) != 1:
        return None
    start, end = spans[0]
    while start and words[start - 1] in _BEFORE:
        start -= 1
    return start, end


def _all(words: list[str], entries: list[list[str]], taken: set[int]) -> Iterator[tuple[int, int]]:
    """Where entries stand, longest first, none over another nor over what is taken."""
    used = set(taken)
    for entry in entries:
        size = len(entry)
        for i in range(len(words) - size + 1):
            span = range(i, i + size)
            if words[i : i + size] == entry and not used & set(span):
                used |= set(span)
                yield i, i + size


def _widened(words: list[str], span: tuple[int, int], taken: set[int]) -> tuple[int, int]:
    """A span with the amount that stands before it."""
    start, end = span
    for amount in _QUANTITIES:
        size = len(amount)
        before = range(start - size, start)
        if start >= size and words[start - size : start] == amount and not taken & set(before):
            return start - size, end
    return span


def held_out(text: str) -> bool:
    """Whether an order is held out: by its words alone, so that spelling twins share a split."""
    return holdout.held_out(" ".join(re.findall(r"\w+", text.lower())))
