"""instructor: pydantic models through tools, and through a JSON schema."""

import json
import sys
from typing import Literal

import instructor
import openai
from everyday import extracted
from pydantic import BaseModel, Field

URL, KEY, MODEL = sys.argv[1:]


class Room(BaseModel):
    name: Literal["kitchen", "office"]
    floor: int | None = Field(ge=0, le=9)


class Ticket(BaseModel):
    """A ticket."""

    urgency: Literal["low", "high"]
    rooms: list[Room] = Field(max_length=2)


def main():
    found = {}
    for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
        client = instructor.from_openai(openai.OpenAI(base_url=URL, api_key=KEY), mode=mode)
        ticket = client.chat.completions.create(
            model=MODEL,
            response_model=Ticket,
            messages=[{"role": "user", "content": "The kitchen on floor 3 burns!"}],
            max_tokens=600,
            max_retries=0,
        )
        found[mode.value] = ticket.model_dump()
    print(json.dumps({"tickets": found, "tool": by("TOOLS"), "prompt": by("JSON")}))


def by(mode):
    """Everyday schemas by the default, a tool, or by a schema in the prompt."""
    mode = instructor.Mode[mode]
    client = instructor.from_openai(openai.OpenAI(base_url=URL, api_key=KEY), mode=mode)
    return extracted(
        lambda kind, text: client.chat.completions.create(
            model=MODEL,
            response_model=kind,
            messages=[{"role": "user", "content": text}],
            max_retries=0,
        )
    )


main()
