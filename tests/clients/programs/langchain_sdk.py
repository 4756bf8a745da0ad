"""LangChain's ChatOpenAI: answers, a stream, tools and their results, structured output."""

import json
import sys
from typing import Literal

from everyday import extracted
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

URL, KEY, MODEL = sys.argv[1:]


@tool
def get_weather(place: Literal["Paris", "Tokyo"], tomorrow: bool = False) -> str:
    """Tell the weather."""
    return f"Today in {place}: light rain, 12 degrees, high 14, low 8."


class Ticket(BaseModel):
    """A ticket."""

    urgency: Literal["low", "high"]
    rooms: list[Literal["kitchen", "office"]] = Field(max_length=2)


def main():
    model = ChatOpenAI(base_url=URL, api_key=KEY, model=MODEL, max_tokens=200)
    plain = ChatOpenAI(base_url=URL, api_key=KEY, model=MODEL)
    answer = model.invoke("Hello, who are you?")
    pieces = [chunk.content for chunk in model.stream("Hello, who are you?")]
    asked = HumanMessage("What is the weather in Paris?")
    equipped = model.bind_tools([get_weather], tool_choice="any", parallel_tool_calls=False)
    call = equipped.invoke([asked])
    streamed = None
    for chunk in equipped.stream([asked]):
        streamed = chunk if streamed is None else streamed + chunk
    results = [
        ToolMessage(get_weather.invoke(one["args"]), tool_call_id=one["id"])
        for one in call.tool_calls
    ]
    after = model.bind_tools([get_weather]).invoke([asked, call, *results])
    ticket = model.with_structured_output(Ticket).invoke("The kitchen burns!")
    found = {
        "content": answer.content,
        "usage": answer.usage_metadata["total_tokens"],
        "pieces": "".join(pieces),
        "calls": [[one["name"], one["args"]] for one in call.tool_calls],
        "streamed": [[one["name"], one["args"]] for one in streamed.tool_calls],
        "after": bool(after.content or after.tool_calls),
        "ticket": ticket.model_dump(),
        "everyday": extracted(lambda kind, text: plain.with_structured_output(kind).invoke(text)),
    }
    print(json.dumps(found))


main()
