"""Names of tools and parameters as words, as prompts and answers write them.

``getWeatherReport`` and ``get_weather_report`` both read "get weather report". So a request for the
weather report has the same tokens as the tool's name. A small model matches these far more readily
than it learns how every word looks inside an identifier.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable

# Between a small letter or a digit and a capital; between an acronym and the word after it.
_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")

KEPT_NAMES = 4096


@functools.lru_cache(KEPT_NAMES)
def words(name: str) -> str:
    """The words of an identifier in lower case; empty if it has none.

    Cached, because every turn of a dialogue needs those of all its tools again.
    """
    return " ".join(_WORD.findall(_HUMP.sub(" ", name).lower()))


def worded(names: Iterable[str]) -> dict[str, str]:
    """The spelling of each name in words, so that no two are spelled alike.

    Returns:
        For each name its words, or the name itself if it has no words or shares them with another.
    """
    read = {name: words(name) for name in names}
    times = Counter(read.values())
    return {name: text if text and times[text] == 1 else name for name, text in read.items()}


def are_distinct(names: Iterable[str]) -> bool:
    """Whether `worded` spells names so that answers, which lose space around them, differ."""
    texts = worded(names).values()
    return len({text.strip() for text in texts}) == len(texts)
