"""LiteLLM: an answer, a stream, a tool call, structured output, through its OpenAI provider."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from everyday import extracted

URL, KEY, MODEL = sys.argv[1:]
SCHEMA = {
    "type": "object",
    "properties": {"urgency": {"enum": ["low", "high"]}, "floor": {"enum": [1, 2, 3]}},
    "required": ["urgency", "floor"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "report", "parameters": SCHEMA}}


def main():
    shared = {"model": f"openai/{MODEL}", "api_base": URL, "api_key": KEY, "max_tokens": 100}
    hello = [{"role": "user", "content": "Hello, who are you?"}]
    answer = litellm.completion(messages=hello, **shared)
    stream = litellm.completion(messages=hello, stream=True, **shared)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
    call = litellm.completion(messages=hello, tools=[TOOL], tool_choice="required", **shared)
    wanted = {"type": "json_schema", "json_schema": {"name": "t", "schema": SCHEMA, "strict": True}}
    ticket = litellm.completion(messages=hello, response_format=wanted, **shared)

    def parsed(kind, text):
        asked = [{"role": "user", "content": text}]
        unbounded = {**shared, "max_tokens": None}
        told = litellm.completion(messages=asked, response_format=kind, **unbounded)
        return kind.model_validate_json(told.choices[0].message.content)

    found = {
        "everyday": extracted(parsed),
        "content": answer.choices[0].message.content,
        "total": answer.usage.total_tokens,
        "pieces": "".join(pieces),
        "reason": call.choices[0].finish_reason,
        "call": json.loads(call.choices[0].message.tool_calls[0].function.arguments),
        "ticket": json.loads(ticket.choices[0].message.content),
    }
    print(json.dumps(found))


main()
