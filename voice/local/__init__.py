"""The microphone and the loudspeaker of this machine."""
