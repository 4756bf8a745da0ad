"""A chat completions API to ask, and a call that it may answer with."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

CALL = {
    "id": "call_9",
    "type": "function",
    "function": {"name": "set_timer", "arguments": '{"duration": "ten minutes"}'},
}


class Api(HTTPServer):
    """A chat completions API that says what it is told to say.

    Attributes:
        says: Of the message.
        text: The body in its place.
        length: Of the body, where the header is to lie.
        silent: Answers wait for it.
        left: How many requests are answered before all others are refused with 503.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.says: dict[str, Any] = {"content": "Hello."}
        self.heard: list[tuple[dict[str, Any], str | None]] = []
        self.status = 200
        self.left = sys.maxsize
        self.text: bytes | None = None
        self.length: int | None = None
        self.silent = threading.Event()
        self.silent.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.heard.append((body, self.headers["authorization"]))
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        told = {"choices": [{"message": {"role": "assistant", **self.server.says}}], "usage": usage}
        text = json.dumps(told).encode() if self.server.text is None else self.server.text
        self.server.silent.wait()
        refused = len(self.server.heard) > self.server.left
        self.send_response(503 if refused else self.server.status)
        self.send_header("content-length", str(self.server.length or len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Nothing: a test's requests are no news."""
