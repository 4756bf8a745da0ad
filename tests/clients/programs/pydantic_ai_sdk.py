"""pydantic-ai: everyday schemas as its agents ask for them, by a tool and by a JSON schema."""

import json
import sys

from everyday import extracted
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

URL, KEY, MODEL = sys.argv[1:]


def main():
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=URL, api_key=KEY))
    by_tool = extracted(lambda kind, text: Agent(model, output_type=kind).run_sync(text).output)
    by_schema = extracted(
        lambda kind, text: Agent(model, output_type=NativeOutput(kind)).run_sync(text).output
    )
    print(json.dumps({"tool": by_tool, "schema": by_schema}))


main()
