"""Speech synthesis, and what the user has heard of a reply."""
