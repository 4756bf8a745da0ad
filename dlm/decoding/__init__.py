"""One request's way from a prompt to its tokens."""
