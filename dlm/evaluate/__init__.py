"""How good a checkpoint is, on dialogues that training never shows."""
