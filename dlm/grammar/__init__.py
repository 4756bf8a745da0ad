"""What an answer may look like, and where it stands in that."""
