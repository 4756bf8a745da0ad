"""Texts, and the JSON answers that a schema asks of them."""
