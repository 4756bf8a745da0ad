"""The tools that a message asks for by the patterns of an agent's file, without asking the model.

Patterns are written over plain words, as in configs/moments. A named group is an argument of the
tool, which gets it in the user's own words: 'remember that (?P<fact>.+)'.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping

from voice.config.moments import found_anywhere, plain_words

_LONGEST = 80
"""Words of a message that values are taken from."""
_OPENERS = re.compile(
    r"^(?:(?:ok|okay|so|well|right|alright|hey|hi|hello|great|good|cool|thanks|thank you|anyway"
    r"|haha|lol|and|but|then|quickly|quick)\b\W*)+(?=\w)",
    re.IGNORECASE,
)
"""What a message may begin with and be the same: a pattern is also looked for without it."""


def called_for(
    message: str, *calls: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """The tools whose patterns are found in a message, with their arguments; the first counts."""
    every = [(tool, one) for some in calls for tool, patterns in some.items() for one in patterns]
    for text in dict.fromkeys((message, _OPENERS.sub("", message))):
        words = plain_words(text)
        for tool, pattern in every:
            if found := found_anywhere(tool, (pattern,)).search(words):
                values = [name for name, value in found.groupdict().items() if value]
                if not values or len(text.split()) <= _LONGEST:
                    yield tool, {name: _own_words(text, found, name) for name in values}


def _own_words(message: str, found: re.Match[str], group: str) -> str:
    """The words of a message that a group of its plain words stands for."""
    said = message.split()

    def length(count: int) -> int:
        return len(plain_words(" ".join(said[:count])))

    counts = range(len(said) + 1)
    first = bisect_right(counts, len(found.string[: found.start(group)].rstrip()), key=length) - 1
    last = bisect_left(counts, found.end(group), key=length)
    return " ".join(said[first:last]).strip(" ,.;:!?")
