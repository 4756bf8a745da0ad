"""The OpenAI Realtime protocol (GA) without I/O: what clients and the session say, turned around.

`protocol.RealtimeProtocol` is the way in; the other modules each know one part of the wire format.
"""
