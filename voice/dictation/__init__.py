"""What was said as the text that was meant: dictation, without I/O and without a clock."""
