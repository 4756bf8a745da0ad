"""Recorded conversations, held through a virtual microphone and loudspeaker."""
