"""Dictation: turns what was said into the text that was meant, without I/O and without a clock."""
