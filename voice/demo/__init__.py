"""Recorded conversations, held with a virtual loudspeaker."""
