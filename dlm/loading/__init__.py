"""Checkpoints of any known family, and where and in which numbers they run."""
