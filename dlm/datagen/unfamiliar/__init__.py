"""Tools that no agent ships, and dialogues about them."""
