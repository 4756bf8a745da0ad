"""Everything kept for callers: entries of the tools' database, and recorded conversations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voice.callers import Caller
from voice.records.folder import Conversations
from voice.tools.database import Database


@dataclass(frozen=True, slots=True)
class CallerData:
    """What the operator may list, export and delete. Methods may block, so call them in threads."""

    database: Database
    conversations: Conversations

    def listed(self) -> dict[str, Any]:
        """The callers for whom something is kept, and how much of each kind."""
        return {"callers": self.conversations.counted(self.database.callers())}

    def exported(self, caller: Caller) -> dict[str, Any]:
        """Everything kept for a caller, except sound."""
        entries = {**self.database.export(caller), "conversations": self.conversations.of(caller)}
        return {"caller": str(caller), "entries": entries}

    def deleted(self, caller: Caller) -> dict[str, Any]:
        """Delete all that is kept for a caller, sound too; returns how much of each kind it was."""
        counts = {
            **self.database.delete(caller),
            "conversations": self.conversations.delete(caller),
        }
        return {"caller": str(caller), "deleted": counts}
