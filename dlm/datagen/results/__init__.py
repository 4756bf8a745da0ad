"""Dialogues in which a tool's result is told in true sentences."""
