"""Who may come in, and how much of everything a caller may use."""
