"""WebRTC calls: the Realtime protocol on a data channel, with the audio as Opus beside it."""
