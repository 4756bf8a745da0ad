"""inceptionai with strict validation: chat, stream, tools, FIM, edit, models."""

import json
import sys

import inceptionai

URL, KEY, MODEL = sys.argv[1:]
HELLO = [{"role": "user", "content": "Hello, who are you?"}]
EDIT = (
    "<|recently_viewed_code_snippets|>\n<|/recently_viewed_code_snippets|>\n"
    "<|current_file_content|>\n<|code_to_edit|>\nx = <|cursor|>1\n<|/code_to_edit|>\n"
    "<|/current_file_content|>\n<|edit_diff_history|>\n<|/edit_diff_history|>"
)
TIMER = {
    "type": "function",
    "function": {
        "name": "set_timer",
        "description": "Start a countdown timer.",
        "parameters": {
            "type": "object",
            "properties": {"duration": {"type": "string", "x-as-said": True}},
            "required": ["duration"],
        },
    },
}


def main():
    client = inceptionai.Inception(
        base_url=URL.removesuffix("/v1"), api_key=KEY, _strict_response_validation=True
    )
    chat = client.chat.completions.create(
        model=MODEL, messages=HELLO, reasoning_effort="instant", reasoning_summary=True
    )
    stream = client.chat.completions.create(
        model=MODEL, messages=HELLO, reasoning_effort="instant", stream=True
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    diffusing = client.chat.completions.create(
        model=MODEL, messages=HELLO, reasoning_effort="instant", stream=True, diffusing=True
    )
    snapshots = [chunk.choices[0].delta.content for chunk in diffusing if chunk.choices]
    call = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "set a timer for ten minutes"}],
        tools=[TIMER],
        tool_choice="required",
    )
    fim = client.fim.completions.create(
        model=MODEL, prompt="The time is", suffix="today.", max_tokens=8
    )
    edit = client.edit.completions.create(
        model=MODEL, messages=[{"role": "user", "content": EDIT}], max_tokens=8
    )
    found = {
        "models": [model.id for model in client.models.list().data],
        "content": chat.choices[0].message.content,
        "summary": chat.reasoning_summary.status,
        "pieces": "".join(pieces),
        "snapshots": [text for text in snapshots if text is not None],
        "call": json.loads(call.choices[0].message.tool_calls[0].function.arguments),
        "fim": fim.object,
        "edit": edit.object,
    }
    print(json.dumps(found))


main()
