"""Traces and metrics for OpenTelemetry, under its conventions for generative AI and for HTTP."""

TRACE_ID = "quicksilver.trace_id"
"""Key of an ASGI connection's scope: the id of its trace, 32 hexadecimal digits."""
