"""The transformer."""
