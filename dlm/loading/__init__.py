"""Loads checkpoints of any known family, and chooses the device and number format they run in."""
