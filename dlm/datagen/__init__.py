"""Generates dialogues for training and evaluation."""
