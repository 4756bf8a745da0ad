"""Revisions of the tables, oldest first; a released revision must never change."""
