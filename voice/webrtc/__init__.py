"""Calls by WebRTC: the Realtime protocol on a data channel, and sound as Opus beside it."""
