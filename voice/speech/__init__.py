"""Words to sound, and what the user heard of it."""
