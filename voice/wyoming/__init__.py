"""The agent for Home Assistant and its satellites, over the Wyoming protocol."""
