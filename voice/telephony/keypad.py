"""Keys that a caller presses, collected into what the user says.

No clock of its own and no I/O. The hash key ends an entry, and so does a pause.
"""

from __future__ import annotations

MAX_KEYS = 64

_SPOKEN = {"*": "star"}


class Keypad:
    """Collects keys.

    Args:
        timeout_s: A pause of this length ends an entry.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._keys: list[str] = []
        self._due_s = 0.0

    @property
    def empty(self) -> bool:
        """Whether no entry has begun."""
        return not self._keys

    def press(self, key: str, now_s: float) -> str | None:
        """Take a key in.

        Returns:
            What the user has said with this entry, such as ``4 5 2 1``, if the key ends it. A hash
            key alone says ``hash``.
        """
        if key == "#":
            return self._take() or "hash"
        self._keys.append(_SPOKEN.get(key, key))
        self._due_s = now_s + self._timeout_s
        return self._take() if len(self._keys) >= MAX_KEYS else None

    def elapsed(self, now_s: float) -> str | None:
        """As `press`, once the pause has lasted long enough."""
        return self._take() if self._keys and now_s >= self._due_s else None

    def wait_s(self, now_s: float) -> float | None:
        """How long until the pause ends the entry; None while there is none."""
        return max(0.0, self._due_s - now_s) if self._keys else None

    def _take(self) -> str:
        said, self._keys = " ".join(self._keys), []
        return said
