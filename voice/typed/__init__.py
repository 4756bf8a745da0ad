"""An agent by keyboard."""
