"""Speech recognition, voice activity and the end of a turn."""
