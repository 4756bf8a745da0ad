"""An MCP server over standard input and output, without any library, that misbehaves as told.

    python faulty_server.py FOLDER

What it lists is ``tools.json`` in the folder. A tool called ``dies`` ends it, ``hangs`` never
answers, ``rubbish`` answers with what is no message, ``wrong`` with a result that is none, ``much``
with a megabyte, ``counts`` writes a line to ``calls`` and answers with the number of lines,
``grows`` lists another tool from then on, and says so, ``works`` reports progress until ``done``
exists. A server that lists ``restless`` says each time that its list has changed.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(number: int, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
    text = json.dumps(arguments)
    if name == "dies":
        os._exit(1)
    if name == "hangs":
        return
    if name == "rubbish":
        print("}{ this is no message", flush=True)
    if name == "wrong":
        return send({"id": number, "result": {"content": "no list"}})
    if name == "refuses":
        return send({"id": number, "error": {"code": -32602, "message": "secret detail"}})
    if name == "much":
        text = "A long story. " * 70_000
    if name == "counts":
        with (FOLDER / "calls").open("a") as calls:
            calls.write("called\n")
        text = str(len((FOLDER / "calls").read_text().splitlines()))
    if name == "grows":
        tools = json.loads((FOLDER / "tools.json").read_text())
        tools.append({"name": "grown", "inputSchema": {"type": "object"}})
        (FOLDER / "tools.json").write_text(json.dumps(tools))
        send({"method": "notifications/tools/list_changed"})
    if name == "works":
        told = {"progressToken": meta["progressToken"], "progress": 1, "message": "Half is done."}
        send({"method": "notifications/progress", "params": told})
        while not (FOLDER / "done").exists():
            time.sleep(0.01)
    failed = name == "fails"
    send({"id": number, "result": {"content": [{"type": "text", "text": text}], "isError": failed}})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        number, method, params = message.get("id"), message["method"], message.get("params", {})
        if method == "initialize":
            shown = {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "faulty"}}
            shown["serverInfo"]["version"] = "1"
            capabilities = {"tools": {"listChanged": True}}
            send({"id": number, "result": {**shown, "capabilities": capabilities}})
        elif method == "tools/list":
            tools = json.loads((FOLDER / "tools.json").read_text())
            send({"id": number, "result": {"tools": tools}})
            if any(tool["name"] == "restless" for tool in tools):
                send({"method": "notifications/tools/list_changed"})
        elif method == "tools/call":
            call(number, params["name"], params.get("arguments", {}), params.get("_meta", {}))
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "no such method"}})


main()
