"""Several drinks in one message, as customers say them: each with an amount and details of its own.

A message is composed from groups, in the notation of ``data/coffee_tools.toml``, and its hash
decides whether it is held out. Slots are numbered by group; those with number 0 belong to all.
``AGAIN3`` stands for the drink of the third group, said once more. Descriptions of a drink that was
ordered before are composed here, too. The words are in ``data/drink_groups.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from dlm.datagen.corpora.orders import ORDERS, behind
from dlm.datagen.holdout import composed
from dlm.datagen.language.phrases import Piece
from dlm.datagen.language.tables import Lists, read

GROUPS = read("drink_groups", Lists)
_SHARES = {
    "size": 0.42, "roast": 0.08, "milk": 0.4, "sweetener": 0.14, "shots": 0.16, "extras": 0.12,
}  # fmt: skip
_AMOUNTS = ("two", "three", "four", "five", "six")


def compose_groups(rng: Random, split: str) -> str:
    """A phrasing of an order of one to five groups that is in the split by its hash.

    Raises:
        NothingHeldOutError: None of many draws was in the split.
    """
    return composed(rng, split, _message)


def compose_drink(rng: Random, split: str) -> str:
    """A phrasing of one drink with few details; as `compose_groups`."""
    few = dict.fromkeys(_SHARES, 0.08)
    return composed(rng, split, lambda rng: _around(rng, _group(rng, 1, few)))


def compose_plainly(rng: Random, split: str) -> str:
    """A phrasing of one or two drinks with nothing before them; as `compose_groups`."""

    def plainly(rng: Random) -> str:
        count = rng.choice((1, 1, 1, 2))
        return _joined(rng, [_group(rng, n, for_whom=0.0) for n in range(1, count + 1)])

    return composed(rng, split, plainly)


def compose_description(rng: Random, split: str, lacking: Sequence[str]) -> str:
    """A phrasing that adds details that the last drink lacks, without naming it.

    Raises:
        NothingHeldOutError: None of many draws was in the split.
    """

    def described(rng: Random) -> str:
        first, *more = rng.sample(lacking, min(len(lacking), rng.choice((1, 1, 1, 2, 2, 3))))
        after = rng.choice(GROUPS["described_after"]) if rng.random() < 0.35 else ""
        return _spaced(rng.choice(GROUPS[f"described_{first}"]), behind(rng, more), after)

    return composed(rng, split, described)


def said_again(pieces: list[Piece]) -> list[Piece]:
    """A message with each ``AGAIN`` replaced by its drink."""
    drinks = {p.slot.removeprefix("drink") or "1": p.text for p in pieces if p.slot[:5] == "drink"}
    return [
        p if p.slot else Piece(re.sub(r"AGAIN(\d)", lambda m: drinks[m[1]], p.text)) for p in pieces
    ]


def _message(rng: Random) -> str:
    return _around(rng, rng.choices((_listed, _divided, _alike), (8, 2, 2))[0](rng))


def _around(rng: Random, body: str) -> str:
    first = rng.choice(ORDERS["openers"]) if rng.random() < 0.5 else ""
    if any(f" {wants} " in body.partition("{")[0] for wants in GROUPS["wants"]):
        first = ""
    return _spaced(first, body, rng.choice(ORDERS["tails"]) if rng.random() < 0.15 else "")


def _listed(rng: Random) -> str:
    """Groups one after the other, sometimes with something to eat among them."""
    count = rng.choices((1, 2, 3, 4, 5), (2, 4, 4, 2, 1))[0]
    groups = [_group(rng, number) for number in range(1, count + 1)]
    if rng.random() < 0.22:
        groups.insert(rng.randint(min(1, count - 1), count), rng.choice(GROUPS["food"]))
    return _joined(rng, groups)


def _divided(rng: Random) -> str:
    """Several of one drink, with differences: "two lattes one with oat milk and one without"."""
    amounts = rng.choice(((1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (1, 1, 1), (3, 1), (2, 2)))
    size = rng.choice(("", "", "{size0}"))
    total = _AMOUNTS[sum(amounts) - 2]
    kinds = [k for k in _SHARES if k != "size" or not size]
    kind = rng.choice(("milk", rng.choice(kinds)))
    parts = []
    for number, amount in enumerate(amounts, 1):
        last = number == len(amounts)
        word = f"{{quantity={_AMOUNTS[amount - 2]}}}" if amount > 1 else "one"
        told = rng.choice(GROUPS["last_parts"] if last else GROUPS["parts"]).replace("ONE", word)
        if word not in told and (amount > 1 or 1 < number < len(amounts)):
            told = word
        others = [k for k in kinds if k != kind]
        more = rng.sample(others, rng.choice((0, 0, 0, 1, 1, 2)))
        plain = last and kind in ("milk", "sweetener", "extras") and rng.random() < 0.25
        parts.append(
            _numbered(_plain(rng, told, kind) if plain else told + _with(rng, kind, more), number)
        )
    text = f"{_spaced(total, size, '{drinks}')}{rng.choice((' ', ' ', ', '))}{_joined(rng, parts)}"
    if not size and rng.random() < 0.25:
        joint = rng.choice(("and", "plus", "and also", ","))
        text = f"{text} {joint} {_group(rng, len(parts) + 1)}"
    return text


def _plain(rng: Random, told: str, kind: str) -> str:
    """The last of several that differ, without the detail of the others or with the usual one."""
    return f"{told} {rng.choice(GROUPS['usual_milk'] if kind == 'milk' else GROUPS['plainly'])}"


def _with(rng: Random, kind: str, more: list[str]) -> str:
    lead = rng.choice(("", "", "in") if kind in ("size", "roast") else ("with", "with", "with", ""))
    return f" {lead} {{{kind}}}{behind(rng, more)}"


def _alike(rng: Random) -> str:
    """Groups that share a detail, perhaps with one exception."""
    count = rng.choice((2, 2, 3, 3, 4))
    kind = rng.choice(("size", "size", "milk", "sweetener"))
    body = _joined(rng, [_group(rng, n, {"roast": 0.1}) for n in range(1, count + 1)])
    shared = f"{{{kind}0}}" if kind == "size" else f"with {{{kind}0}}"
    if kind == "size" and rng.random() < 0.3:
        return f"{rng.choice(GROUPS['alike_first']).replace('SHARED', shared)} {body}"
    whole = "both" if count == 2 else "all"
    text = rng.choice(GROUPS["alike"]).replace("SHARED", shared).replace("ALL", whole)
    if kind == "size" and rng.random() < 0.45:
        number = rng.randint(1, count)
        but = rng.choice(GROUPS["but"]).replace("AGAIN", f"AGAIN{number}")
        text = f"{text} {_numbered(but, number)}"
    return f"{body} {text}"


def _group(
    rng: Random, number: int, shares: dict[str, float] | None = None, for_whom: float = 0.14
) -> str:
    """An amount of one drink, with its details before and after it."""
    share = rng.choice((0.3, 1.0, 1.0, 1.7))
    parts = [k for k, v in (shares or _SHARES).items() if rng.random() < v * share]
    rng.shuffle(parts)
    front = [p for p in parts if p in ("size", "roast") and rng.random() < 0.8]
    front += [p for p in parts if p == "milk" and rng.random() < 0.12]
    dose = ["dose"] if "shots" not in parts and rng.random() < 0.08 else []
    before = [f"{{{p}}}" for p in (*front, *dose)]
    text = _spaced(rng.choice(GROUPS["counts"]), *before, "{drink}")
    text += behind(rng, [p for p in parts if p not in front])
    if rng.random() < for_whom:
        wants = rng.random() < 0.4
        who = rng.choice(GROUPS["people"])
        who = {"her": "she", "him": "he"}.get(who, who) if wants else who
        text = f"{who} {rng.choice(GROUPS['wants'])} {text}" if wants else f"{text} for {who}"
    return _numbered(text, number)


def _numbered(text: str, number: int) -> str:
    """A group's text with its number added to its slots; the first group's have none."""
    return re.sub(r"\{([a-z]+)(?=[}=])", rf"{{\g<1>{number}", text) if number > 1 else text


def _joined(rng: Random, groups: Sequence[str]) -> str:
    joint, last = rng.choice(GROUPS["joints"]), rng.choice(GROUPS["last_joints"])
    text = groups[0]
    for at, group in enumerate(groups[1:], 1):
        if rng.random() < 0.25:
            joint = rng.choice(GROUPS["joints"])
        text = _spaced(text, last if at == len(groups) - 1 else joint, group)
    return text


def _spaced(*texts: str) -> str:
    return " ".join(text.strip() for text in texts if text.strip())
