"""Shopping and other lists: add, remove, move, read aloud, clear."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated

from voice.tools import phrasing
from voice.tools.registry import Known, ToolError, tool
from voice.tools.scope import SessionScope
from voice.tools.spoken_numbers import digits
from voice.tools.store import Store

_SHOPPING = "shopping"
_ALIASES = {"grocery": _SHOPPING, "groceries": _SHOPPING, "todo": "to do", "to-do": "to do"}
_TASKS = ("to do",)
"""Lists whose items are whole sentences, in which "and" does not separate items."""
_AND = "\0and\0"
"""Stands for the "and" of a pair while items are separated."""
_NAMED = re.compile(
    r"\b(?:the|my|our|an?) "
    r"((?:(?!(?:the|my|our|to(?! do)|on|off|from|in|of)\b)[\w'-]+ ){1,3})list\b"
)
_POINTING = re.compile(
    r"\b(?:(?:on|off|onto|to|from|read|clear|empty|wipe)(?: me)? (?:it|there)"
    r"|(?:that|this|same) (?:list|one)|(?:put|add) (?:that|it|them|those) on)\b"
    r"|\b(?:too|as well)\W*$"
)
"""Refers to a list that was named before."""
_EVERY = re.compile(r"\bboth\b|\ball (?:of )?(?:the|my) lists\b|\b(?:what|which|my) lists\b")
_PLURAL = re.compile(
    r"(?!(?:sports|clothes|kids|brussels|christmas|canvas|ladies|savings|glasses)\b)"
    r"[^\W\d]{2,}[^\W\dsui]s",
    re.IGNORECASE,
)
_GOES_ON = frozenset((
    "at", "by", "extra", "for", "from", "in", "large", "of", "on", "or", "size", "small", "that",
    "to", "with",
))  # fmt: skip
"""Words behind a plural that still speak of it."""
# Each is one item in spite of the "and".
_PAIRS = (
    "half and half", "mac and cheese", "macaroni and cheese", "bits and pieces", "fish and chips",
    "peanut butter and jelly", "salt and vinegar",
)  # fmt: skip


@tool()
def add_to_list(item: str, list: str = "", *, scope: SessionScope, store: Store) -> str:
    """Put an item on a list."""
    name = _said_name(_meant(list, scope))
    said = " ".join(scope.said[:1])
    if re.search(rf"\blist (?:called|named) {re.escape(item)}\W*$", said, re.I):
        # A list need not be created: it exists as soon as something is on it.
        raise ToolError(f"Just tell me what to put on the {_said_name(item)} list.")
    apart = (one for each in _items_of(item, name) for one in _enumerated(each, said))
    items = [*{_key(each): each for each in apart}.values()]
    on_list = {_key(known) for known in store.items(_stored_name(name))}
    new = [each for each in items if _key(each) not in on_list]
    # Another conversation may add the same at this moment.
    if not new or not (new := store.add_new_items(_stored_name(name), new, _key)):
        verb = "are" if len(items) > 1 else "is"
        subject = phrasing.sentence(phrasing.joined(items))
        return f"{subject} {verb} already on the {name} list."
    return f"Added {phrasing.joined(new)} to the {name} list."


def _on_a_list(said: str, *, store: Store) -> None:
    """Check that an item is on some list, or each of several.

    Raises:
        ToolError: One is on no list.
    """
    names = store.lists()

    def is_listed(item: str) -> bool:
        return any(_find(item, store.items(name)) for name in names)

    if not any(all(map(is_listed, _items_of(said, name))) for name in names):
        raise ToolError(f"{phrasing.sentence(_bare(said))} is on no list.")


_Item = Annotated[str, Known(_on_a_list)]


@tool(undoes=True)
def remove_from_list(item: _Item, list: str = "", *, scope: SessionScope, store: Store) -> str:
    """Take an item off a list."""
    list = _meant(list, scope)
    name = _said_name(list)
    if not (list and store.items(_stored_name(name))):
        name = _list_with(_bare(item), "", store)
    removed, rest = _take(item, name, store, partial(store.remove_item, _stored_name(name)))
    return f"Removed {removed} from the {name} list.{rest}"


@tool()
def move_item(item: _Item, to: str, list: str = "", *, store: Store) -> str:
    """Move an item to another list."""
    target = _said_name(to)
    name = _said_name(list) if list else _list_with(_bare(item), _stored_name(target), store)
    if _stored_name(name) == _stored_name(target):
        raise ToolError(f"I do not know from which list to move {_bare(item)}.")
    on_target = {_key(known) for known in store.items(_stored_name(target))}

    def move(known: str) -> bool:
        if _key(known) in on_target:
            return store.remove_item(_stored_name(name), known)
        return store.move_item(_stored_name(name), known, _stored_name(target))

    moved, rest = _take(item, name, store, move)
    return f"Moved {moved} from the {name} list to the {target} list.{rest}"


@tool(undoes=True)
def clear_list(list: str = "", *, scope: SessionScope, store: Store) -> str:
    """Delete everything on a list."""
    name = _said_name(_meant(list, scope))
    cleared = store.clear_items(_stored_name(name))
    if not cleared:
        return f"The {name} list is empty."
    return f"Cleared the {name} list: {phrasing.joined(cleared)}."


@tool(read_only=True)
def read_list(list: str = "", *, scope: SessionScope, store: Store) -> str:
    """Read a list aloud."""
    every = not list and _EVERY.search(" ".join(scope.said[:1]).lower())
    names = store.lists() if every else []
    return " ".join(_told(one, store) for one in names or [_said_name(_meant(list, scope))])


def _told(name: str, store: Store) -> str:
    items = store.items(_stored_name(name))
    if not items:
        return f"The {name} list is empty."
    count = phrasing.counted(len(items), "item")
    return f"The {name} list has {count}: {phrasing.joined(items)}."


def _meant(list: str, scope: SessionScope) -> str:
    """The list of a call; for "that list", the one that was spoken of last.

    A model may leave it out then, or take another.
    """
    newest, *before = (said.lower() for said in scope.said or ("",))
    if _POINTING.search(newest) and not (list and list.lower() in newest):
        named = _NAMED.findall(" ".join(before[:1]))
        list = named[-1] if named else scope.newest_list or list
    scope.newest_list = list
    return list


def _said_name(name: str) -> str:
    """The list's name without the words around it: "my shopping list" → "shopping"."""
    # "The whole lot" does not name a list.
    said = re.sub(r"\b(?:lists?|please|whole|lot|everything|all)\b", "", name.lower()).strip()
    said = re.sub(r"^(?:the|my|our|a)\b", "", said).strip()
    return said or _SHOPPING


def _stored_name(name: str) -> str:
    return _ALIASES.get(name, name)


def _list_with(item: str, not_on: str, store: Store) -> str:
    """The list to take items from if none was named: the only one that has any, else shopping."""
    having = [
        name
        for name in store.lists()
        if name != not_on and any(_find(one, store.items(name)) for one in _items_of(item, name))
    ]
    return having[0] if len(having) == 1 else _SHOPPING


def _take(said: str, name: str, store: Store, take: Callable[[str], bool]) -> tuple[str, str]:
    """Take items off a list; returns which, and a sentence on those that were not there.

    Args:
        said: The spoken items.
        name: The list.
        take: Takes one, named as on the list; False if it is not there any more.

    Raises:
        ToolError: None of them is on the list.
    """
    taken, missing = [], []
    for each in _items_of(said, name):
        known = _find(each, store.items(_stored_name(name)))
        if known is not None and take(known):
            taken.append(known)
        else:
            missing.append(each)
    if not taken:
        raise ToolError(f"{phrasing.sentence(_bare(said))} is not on the {name} list.")
    there = f" The {name} list does not have {phrasing.joined(missing, last='or')}."
    return phrasing.joined(taken), there if missing else ""


def _items_of(said: str, name: str) -> list[str]:
    """The spoken items, each with its amount: "two litres of milk and eggs" is two items."""
    bare = _bare(said)
    if _stored_name(name) in _TASKS:
        return [bare]
    for pair in _PAIRS:
        bare = re.sub(rf"\b{pair}\b", pair.replace(" and ", _AND), bare, flags=re.I)
    parts = re.split(r",\s*(?:and\s+)?|(?<!\s)\s+(?:and|plus|as well as)\s+(?:also\s+)?", bare)
    return [_bare(part.replace(_AND, " and ")) for part in parts if _bare(part)]


def _enumerated(item: str, said: str) -> list[str]:
    """The items in words before an "and": "crisps olives", of "crisps olives and hummus", are two.

    A plural ends an item. Nothing else tells "milk eggs" from "olive oil", which stay as said.
    """
    if not re.search(rf"\b{re.escape(item)},? and\b", said, re.IGNORECASE):
        return [item]
    parts: list[list[str]] = [[]]
    words = item.split()
    for word, then in zip(words, [*words[1:], "of"], strict=True):
        parts[-1].append(word)
        counted = re.match(r"\d|(?:a|few|couple) ", digits(" ".join(parts[-1][:2])[:40]))
        if _PLURAL.fullmatch(word) and then.lower() not in _GOES_ON and not counted:
            parts.append([])
    return [" ".join(part) for part in parts]


def _bare(item: str) -> str:
    return re.sub(
        r"^(?:the|some|my|more|any)\s+(?:of (?:the|that|those|my)\s+)?",
        "",
        item.strip().rstrip("."),
        flags=re.I,
    )


def _find(said: str, items: list[str]) -> str | None:
    """The item with the same words, or else the only one that contains them all."""
    for item in items:
        if _key(item) == _key(said):
            return item
    words = set(_key(said).split())
    having = [item for item in items if words <= set(_key(item).split())]
    return having[0] if len(having) == 1 else None


def _key(item: str) -> str:
    """A form that is the same for an item's singular and plural, with or without an article."""
    words = re.sub(r"^(?:an?|the|some)\s+", "", item.lower().replace(" & ", " and ")).split()
    stems = (re.sub(r"(?:ies|ie|y)$", "i", word) for word in words)
    return " ".join(re.sub(r"(?<=[^s])(?:es|s|e)$", "", stem) for stem in stems)
