"""OpenAI's Realtime protocol (GA): a codec without I/O, and the connection that runs it.

`protocol.RealtimeProtocol` is the entry point; the other modules each know one part of the wire
format.
"""
