"""Facts that a caller asks to be remembered: kept, told, corrected, and forgotten, one or all.

A fact is a sentence in the caller's own words. A question is answered by the facts that contain its
words. Only what the caller asked for is kept, and nothing is inferred from it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from typing import Annotated, Any

from voice.config import MemoryConfig
from voice.tools import phrasing
from voice.tools.full_text import content_words, phrase_query
from voice.tools.registry import Asked, Known, Readable, ToolError, Unreadable, tool
from voice.tools.ringer import Ringer
from voice.tools.scope import SessionScope
from voice.tools.store import AlertKind, Fact, Store

_NAME = "name"
LONGEST = 300
"""Most characters of a fact."""
_MOST_TOLD = 8
_OF_A_STRANGER = "Until this conversation ends I"
_SOFT = """
again call called color colour date day keep kept know leave left long many month much name number
old place put remember time told year
"""
"""Words of a question that need not be in the fact that answers it."""
_IS = re.compile(
    r"(?<!\s)\s+(?:is|are|was|were)\s+|(?<=\w)['’]s\s+(?=(?:on|at|in|an?|the)\b)", re.I
)
_ONES = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen"
    "|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    "|(?:thir|four|fif|six|seven|eigh|nine)teenth|half|quarter|noon|midnight|oh|zero"
    "|(?:twen|thir|for|fif|six|seven|eigh|nine)(?:ty|tieth)|hundred|thousand"
    r"|\d[\d:.,]*(?:st|nd|rd|th)?"
)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_KINDS = tuple(
    re.compile(rf"\b(?:{kind})(?:[\s-]+(?:(?:past|and|to) )?(?:{kind}))*\b", re.I)
    for kind in (_ONES, _MONTHS, "(?:mon|tues|wednes|thurs|fri|satur|sun)day")
)
"""Kinds of words that can replace each other in a correction: numbers, months, weekdays."""
_BETWEEN = frozenset(("the", "of", "on", "at", "in", "and", "o'clock", "am", "pm"))
_YOURS = {
    "i am": "you are", "i'm": "you're", "i was": "you were", "am i": "are you", "i": "you",
    "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "we": "you", "us": "you",
    "our": "your", "ours": "yours", "you are": "I am", "you're": "I'm", "your": "my",
    "yours": "mine", "you": "me",
}  # fmt: skip
_FORGET_ALL = re.compile(
    r"(?:(?:yes|yeah|yep|yup|sure|okay|ok|please|do|go ahead|and|just)\W+)*"
    r"(?:delete|erase|forget|remove|clear|wipe|destroy|drop|get rid of)\W+"
    r"(?:(?:it|them|those|that)(?: all)?|all(?: of)?(?: it| them| that)?|(?:absolutely )?everything"
    r"|the (?:whole )?lot|(?:all )?(?:of )?my (?:data|stuff|information))"
    r"(?: (?:about|of) (?:me|mine)| (?:that )?you (?:have|know|keep|kept)(?: (?:about|on|of) me)?)?"
    r"(?:\W+(?:please|now|then|thanks|thank you))*\W*"
)
"""A whole message that asks to delete everything; "everything but my alarms" does not match."""


def to_you(text: str) -> str:
    """A user's sentence as it is said back to them: "my car is red" → "your car is red"."""
    said = "|".join(_YOURS).replace("'", "['’]")
    return re.sub(
        rf"\b(?:{said})\b(?!['’](?!s\b))",
        lambda one: _YOURS[" ".join(one[0].lower().replace("’", "'").split())],
        text,
        flags=re.I,
    )


def wording(fact: Fact) -> str:
    """A fact as a sentence in the user's words."""
    return f"my name is {fact.content}" if fact.about == _NAME else fact.content


def note(facts: Sequence[Fact], most_chars: int = 1000) -> str:
    """The note for the model at the beginning: as many of the newest facts as fit; or empty."""
    said: list[str] = []
    for fact in reversed(facts):
        most_chars -= len(wording(fact))
        if most_chars >= 0:
            said.append(wording(fact))
    return (
        f"What the user asked you to remember, in their words: {'; '.join(said)}." if said else ""
    )


def greeting_by_name(greeting: str, facts: Iterable[Fact]) -> str:
    """A greeting with the name that the caller wants to be called: "Hello Anna, this is …"."""
    name = next((fact.content for fact in facts if fact.about == _NAME), "")
    if not name or not greeting:
        return greeting
    salutation = re.compile(r"^(?:hello|hi|good \w+|(welcome back))\b(?! to)", re.I)
    named, found = salutation.subn(lambda one: f"{one[0]}{',' * bool(one[1])} {name}", greeting)
    return named if found else f"Hello {name}. {greeting}"


def _a_name(said: str, _: datetime) -> None:
    if not re.fullmatch(r"[^\W\d_]+(?:[-' ’][^\W\d_]+){0,2}\.?", said.strip()):
        raise Unreadable(_NAME, said)


def _fits(said: str, *, store: Store) -> None:
    if not _fitting(said, store.facts()):
        raise ToolError("I do not know.")


_OfFact = Annotated[str, Known(_fits)]


@tool()
def call_me(
    name: Annotated[str, Readable(_a_name)],
    *,
    scope: SessionScope,
    store: Store,
    memory: MemoryConfig,
) -> str:
    """Remember what the user wants to be called."""
    had = _may_keep(store, memory)
    was = next((fact for fact in had if fact.about == _NAME), None)
    said = phrasing.name(name.strip(" ."))
    store.keep_fact(said, scope.now().timestamp(), _NAME, was)
    return f"I will call you {said}."


@tool()
def remember_fact(fact: str, *, scope: SessionScope, store: Store, memory: MemoryConfig) -> str:
    """Remember a fact for later conversations, because the user asks for it."""
    had = _may_keep(store, memory)
    said = " ".join(fact.split()).rstrip(".!")
    if len(said) > LONGEST:
        raise ToolError("That is too long for me to remember.")
    # One sentence may tell several: "… that Zoe is eight and that she likes tea".
    parts = re.split(r",? and that (?=\w)", said)
    new = [part for part in parts if not any(_same(part, wording(one)) for one in had)]
    if len(had) + len(new) > memory.most_facts:
        raise ToolError("I remember as much as I may. Please have me forget something first.")
    for part in new:
        store.keep_fact(part, scope.now().timestamp())
    return f"{'I' if scope.caller else _OF_A_STRANGER} will remember that {to_you(said)}."


@tool(read_only=True)
def recall_fact(question: _OfFact, *, store: Store) -> str:
    """Answer a question by what the user asked to be remembered."""
    found = _fitting(question, store.facts())
    if not found:
        raise ToolError("I do not know. You have not asked me to remember that.")
    # Facts with the same subject are told as well, since they may contradict the best one.
    return _told([one for one in found if _same(_subject(one), _subject(found[0]))])


@tool(read_only=True)
def list_facts(about: str = "", *, store: Store) -> str:
    """Say what the user asked to be remembered, all or about something."""
    facts = store.facts()
    found = _fitting(about, facts) if about else facts
    if about and not found:
        return "I do not know. You have not asked me to remember anything about that."
    return _told(found) if found else "You have not asked me to remember anything."


@tool(behind=("recall_fact", "list_facts", "remember_fact", "change_fact", "call_me"))
def change_fact(to: str, *, scope: SessionScope, store: Store) -> str:
    """Correct a remembered fact that was told or kept last."""
    facts = store.facts()
    before = scope.said[1] if len(scope.said) > 1 else ""
    candidates = _fitting(to if _IS.search(to) else before, facts) or facts
    changed = [(fact, new) for fact in candidates if (new := _corrected(fact, to))]
    if len(changed) != 1:
        raise ToolError("I am not sure what to change. Please say: no, and then all that is right.")
    ((fact, new),) = changed
    store.keep_fact(new, scope.now().timestamp(), fact.about, was=fact)
    return f"Corrected: {to_you(wording(Fact(fact.id, fact.about, new)))}."


@tool(undoes=True)
def forget_fact(what: _OfFact, *, store: Store) -> str:
    """Forget a remembered fact."""
    found = _fitting(what, store.facts())
    if not found:
        raise ToolError("I do not remember anything of the kind.")
    if len(found) > 1:
        raise ToolError(f"Which one shall I forget? {_told(found)}")
    store.remove_fact(found[0].id)
    return f"Forgotten: {to_you(wording(found[0]))}."


def _kept(scope: SessionScope, store: Store) -> str:
    """What is kept for the user, in words."""
    alerts = {alert.kind for alert in store.alerts()}
    entries: dict[str, object] = {"lists": store.lists()}
    entries |= {f"{kind}s": kind in alerts for kind in AlertKind}
    entries |= {"orders": store.orders(), "appointments": store.appointments(after=0)}
    entries |= {keeps.what: True for keeps in scope.keeps}
    named = [name for name, there in entries.items() if there]
    kept = ["what you asked me to remember"] if store.facts() else []
    kept += [f"your {phrasing.joined(named)}"] if named else []
    return phrasing.joined(kept) or "what I keep for you"


def _question(_: Mapping[str, Any], *, scope: SessionScope, store: Store) -> str:
    return f"That deletes {_kept(scope, store)}. Shall I delete it all?"


def _forgets_all(message: str) -> bool:
    return _FORGET_ALL.fullmatch(message.lower().strip()) is not None


@tool(asked=Asked(_question, _forgets_all, always=True))
def forget_me(*, scope: SessionScope, store: Store, ringer: Ringer) -> str:
    """Forget everything about the user."""
    kept = _kept(scope, store)
    store.forget()
    scope.forget()
    ringer.wake()
    # One that fails keeps none of the others from forgetting.
    with ExitStack() as forgetting:
        for keeps in scope.keeps:
            forgetting.callback(keeps.forget, scope.owner)
    return f"I have deleted {kept}."


def _may_keep(store: Store, memory: MemoryConfig) -> list[Fact]:
    """The facts kept so far, if facts may be kept.

    Raises:
        ToolError: The configuration does not allow it.
    """
    if not memory.keep:
        raise ToolError("I am not set up to remember things.")
    return store.facts()


def _fitting(said: str, facts: Sequence[Fact]) -> list[Fact]:
    """The facts with all words of a question but soft ones, the best and then the newest first.

    If the subject of some has exactly the question's words, only those.
    """
    words = content_words(said)
    needed = [word for word in words if word not in _SOFT.split()] or words
    wordings = [wording(fact) for fact in facts]
    known = "\n".join(wordings).lower()
    # A quick check, as most spans of a message match no fact; a stem keeps its first letters.
    if not needed or not all(word[:2] in known for word in needed):
        return []
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute("CREATE VIRTUAL TABLE facts USING fts5(text, tokenize='porter')")
        index.executemany("INSERT INTO facts VALUES (?)", [(one,) for one in wordings])
        rows = index.execute(
            "SELECT rowid FROM facts WHERE facts MATCH ? ORDER BY rank, rowid DESC",
            (f"({phrase_query(needed, ' AND ')}) AND ({phrase_query(words)})",),
        ).fetchall()
    found = [facts[number - 1] for (number,) in rows]
    exact = [one for one in found if set(content_words(_subject(one))) == set(words)]
    return exact or found


def _subject(fact: Fact) -> str:
    return _IS.split(wording(fact), maxsplit=1)[0]


def _same(one: str, other: str) -> bool:
    return re.findall(r"\w+", one.lower()) == re.findall(r"\w+", other.lower())


def _told(facts: Sequence[Fact]) -> str:
    said = [f"{phrasing.sentence(to_you(wording(fact)))}." for fact in facts[:_MOST_TOLD]]
    more = len(facts) - len(said)
    return " ".join([*said, *([f"And {phrasing.counted(more, 'other thing')}."] if more else [])])


def _corrected(fact: Fact, to: str) -> str:
    """The content of a fact after a correction; empty if the words do not fit the fact."""
    right, text = " ".join(to.split()).rstrip(".!"), wording(fact)
    if _IS.search(right):
        return right if _same(_subject(fact), _IS.split(right, maxsplit=1)[0]) else ""
    if fact.about == _NAME:
        return phrasing.name(right)
    said = [(kind, kind.search(right)) for kind in _KINDS]
    rest = right
    for kind, _ in said:
        rest = kind.sub(" ", rest)
    head, tail = text[: (found.end() if (found := _IS.search(text)) else 0)], text
    tail = text[len(head) :]
    if set(rest.lower().split()) <= _BETWEEN:
        for kind, new in said:
            if new and not kind.search(tail):
                return ""
            tail = kind.sub(new[0], tail, count=1) if new else tail
        return head + tail
    # "The green flowerpot" takes the place of "the blue flowerpot".
    count = len(right.split())
    like = rf"\b{right.split()[0]} (?:\S+ ){{{max(count - 2, 0)}}}{re.escape(right.split()[-1])}$"
    if count > 1 and (replaced := re.search(like, text, re.I)):
        return text[: replaced.start()] + right
    return head + right if head else ""
