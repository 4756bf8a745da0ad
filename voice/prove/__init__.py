"""Simulated callers hold spoken conversations with a server; a scorecard reports the outcome."""
