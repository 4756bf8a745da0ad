"""Dialogues to train and to judge on."""
