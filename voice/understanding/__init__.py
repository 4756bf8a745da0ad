"""What a message means, read from its English words by program, and whether calls fit it."""
