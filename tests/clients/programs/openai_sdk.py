"""openai-python: create, stream, parse, tools. Arguments: base URL, key, model."""

import json
import sys
from typing import Literal

import openai
from pydantic import BaseModel

URL, KEY, MODEL = sys.argv[1:]
HELLO = [{"role": "user", "content": "Hello, who are you?"}]


class Step(BaseModel):
    kind: Literal["check", "fix"]
    minutes: int | None


class Plan(BaseModel):
    urgency: Literal["low", "high"]
    steps: list[Step]


class SetTimer(BaseModel):
    """Start a countdown timer."""

    minutes: int
    label: Literal["tea", "pasta"] | None


def created(client):
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=HELLO)
    answer = raw.parse()
    return {
        "content": answer.choices[0].message.content,
        "reason": answer.choices[0].finish_reason,
        "total": answer.usage.total_tokens,
        "sum": answer.usage.prompt_tokens + answer.usage.completion_tokens,
        "steps": answer.usage.steps,
        "request_id": raw.headers["x-request-id"],
    }


def streamed(client):
    with client.chat.completions.stream(
        model=MODEL, messages=HELLO, stream_options={"include_usage": True}
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    return {
        "kinds": sorted(set(kinds)),
        "content": final.choices[0].message.content,
        "completion_tokens": final.usage.completion_tokens,
    }


def parsed(client):
    prompt = [{"role": "user", "content": "Plan the repair of the printer."}]
    try:
        answer = client.chat.completions.parse(
            model=MODEL, messages=prompt, response_format=Plan, max_tokens=400
        )
    except openai.LengthFinishReasonError as error:
        return {"length": True, "tokens": error.completion.usage.completion_tokens}
    return {"length": False, "plan": answer.choices[0].message.parsed.model_dump()}


def called(client):
    tool = openai.pydantic_function_tool(SetTimer)
    prompt = [{"role": "user", "content": "Set a timer for 10 minutes for the tea."}]
    fields = {"model": MODEL, "messages": prompt, "tools": [tool], "tool_choice": "required"}
    answer = client.chat.completions.parse(**fields, parallel_tool_calls=False)
    (call,) = answer.choices[0].message.tool_calls
    with client.chat.completions.stream(**fields, parallel_tool_calls=False) as stream:
        final = stream.get_final_completion()
    (again,) = final.choices[0].message.tool_calls
    return {
        "reason": answer.choices[0].finish_reason,
        "minutes": call.function.parsed_arguments.minutes,
        "label": call.function.parsed_arguments.label,
        "same": again.function.arguments == call.function.arguments,
        "ids": [call.id, again.id],
    }


def failures(client):
    found = {}
    for name, fields in {
        "model": {"model": "gpt-5"},
        "temperature": {"temperature": 9},
        "logprobs": {"logprobs": True},
    }.items():
        try:
            client.chat.completions.create(**{"model": MODEL, "messages": HELLO, **fields})
        except openai.APIStatusError as error:
            found[name] = [type(error).__name__, error.status_code, error.param, error.code]
    try:
        client.with_options(api_key="wrong").models.list()
    except openai.AuthenticationError as error:
        found["key"] = [type(error).__name__, error.status_code, error.param, error.code]
    return found


def main():
    client = openai.OpenAI(base_url=URL, api_key=KEY, max_retries=0)
    found = {
        "models": [model.id for model in client.models.list()],
        "created": created(client),
        "streamed": streamed(client),
        "parsed": parsed(client),
        "called": called(client),
        "failures": failures(client),
        "text": client.completions.create(model=MODEL, prompt="It is", max_tokens=8)
        .choices[0]
        .text,
    }
    print(json.dumps(found))


main()
