"""Sound to words, and the end of a turn."""
