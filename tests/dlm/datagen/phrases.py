"""What holds for every table of phrasings."""

from __future__ import annotations

from collections.abc import Iterable

from dlm.datagen.catalog import PARAMETERS
from dlm.datagen.grammar import template
from dlm.datagen.slots import ALIASES, base

FREE = {"no", "what", "noise", "person", "place", "noun", "title"}


def check(tool: str, sources: Iterable[str], extra: Iterable[str] = ()) -> None:
    """Assert that templates parse, differ, and have slots of the tool's parameters, each once."""
    seen = list(sources)
    assert len(set(seen)) == len(seen), f"{tool} says something twice"
    known = {*PARAMETERS.get(tool, ()), *FREE, *extra}
    for source in seen:
        assert source == source.strip() and source.lower() == source, source
        slots = template(source.lstrip("!")).slots
        for slot in slots:
            name = base(slot)[0]
            assert ALIASES.get(name, name) in known, f"{tool}: {slot} in {source!r}"
            assert source.count(f"{{{slot}}}") == 1, source
