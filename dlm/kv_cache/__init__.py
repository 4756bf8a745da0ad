"""Keys and values of what has been forwarded, and the memory that they use again."""
