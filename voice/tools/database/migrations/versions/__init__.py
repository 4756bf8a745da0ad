"""Revisions of the tables, oldest first; none changes once it has been released."""
