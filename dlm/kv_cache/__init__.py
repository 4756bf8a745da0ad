"""Caches of keys and values, and the memory that they share and reuse."""
