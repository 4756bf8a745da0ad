"""All that is kept for callers: entries of the tools' database, and conversations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voice.callers import Caller
from voice.records.folder import Conversations
from voice.tools.database import Database


@dataclass(frozen=True, slots=True)
class CallerData:
    """What the operator may list, export and delete. It may block: it is for threads."""

    database: Database
    conversations: Conversations

    def listed(self) -> dict[str, Any]:
        """Who has something kept, and how much of each kind."""
        return {"callers": self.conversations.counted(self.database.callers())}

    def exported(self, caller: Caller) -> dict[str, Any]:
        """All of one caller's, but for sound."""
        entries = {**self.database.export(caller), "conversations": self.conversations.of(caller)}
        return {"caller": str(caller), "entries": entries}

    def deleted(self, caller: Caller) -> dict[str, Any]:
        """Delete all of one caller's, sound as well; how much of each kind there was."""
        counts = {
            **self.database.delete(caller),
            "conversations": self.conversations.delete(caller),
        }
        return {"caller": str(caller), "deleted": counts}
