"""The conversation as a state machine: no I/O and no clock."""
