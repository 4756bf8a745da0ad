"""The OpenAI-compatible API: codecs without I/O, and the ASGI application around them."""
