"""Simulated callers hold spoken conversations with a server; a scorecard says what came of them."""
