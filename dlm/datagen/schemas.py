"""The agents' tools as JSON schemas, and the agents' instructions.

The one place where the training data states what the agents offer; the real tools share these
names, parameters and descriptions. Knows nothing of how a tool works.
"""

from __future__ import annotations

from typing import Any

ASSISTANT_INSTRUCTIONS = (
    "You are Quicksilver, a voice assistant. Answer in one or two short spoken sentences. "
    "Use a tool when one fits. Say only what the tools or the user said."
)
COFFEE_INSTRUCTIONS = (
    "You are Quicksilver, taking orders for a coffee shop on the telephone. "
    "Use the tools to build the order. Confirm briefly and ask what else."
)

_TABLE = """
get_time | Tell the current time. | place?
get_date | Tell the date of a day. | day?
set_timer | Start a countdown timer. | duration name?
list_timers | Say which timers are running. |
cancel_timer | Stop a running timer. | name?
set_alarm | Set an alarm clock. | when
set_reminder | Remember something for the user. | text when?
list_reminders | Say what reminders there are. |
add_to_list | Put an item on a list. | item list?
remove_from_list | Take an item off a list. | item list?
read_list | Read a list aloud. | list?
calculate | Work out a sum. | expression
convert_units | Convert between units of measure. | amount from_unit to_unit
convert_currency | Convert between currencies. | amount from_currency to_currency
get_weather | Tell the weather. | place? day?
get_stock_price | Tell a share price. | company
set_device | Switch or adjust a home device. | device room? state
get_device | Tell the state of a device. | device room?
search_documents | Search the user's documents. | query
end_conversation | End the conversation. |
order_drink | Add a drink to the order. | drink size? roast? milk? shots? sweetener? extras?\
 quantity?
remove_drink | Remove a drink from the order. | drink
read_order | Read the order back. |
confirm_order | Place the order. | name?
transfer_call | Hand over to a person. | to?
"""

Spec = dict[str, Any]
"""A tool as offered: ``{"name", "description", "parameters": JSON schema}``."""


def spec(name: str, description: str, parameters: list[str]) -> Spec:
    """A tool's schema.

    Args:
        name: The tool's name.
        description: One sentence.
        parameters: Names in schema order; a trailing ``?`` marks one that may be left out.
    """
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {p.rstrip("?"): {"type": "string"} for p in parameters},
            "required": [p for p in parameters if not p.endswith("?")],
        },
    }


def _specs() -> dict[str, Spec]:
    rows = (line.split("|") for line in _TABLE.strip().splitlines())
    return {n.strip(): spec(n.strip(), d.strip(), p.split()) for n, d, p in rows}


TOOLS: dict[str, Spec] = _specs()
"""Every tool of both agents, by name."""

COFFEE_TOOLS: tuple[str, ...] = (
    "order_drink",
    "remove_drink",
    "read_order",
    "confirm_order",
    "transfer_call",
    "end_conversation",
)
ASSISTANT_TOOLS: tuple[str, ...] = tuple(
    name for name in TOOLS if name not in COFFEE_TOOLS or name == "end_conversation"
)
AGENT_TOOLS: dict[str, tuple[str, ...]] = {"assistant": ASSISTANT_TOOLS, "coffee": COFFEE_TOOLS}
INSTRUCTIONS: dict[str, str] = {
    "assistant": ASSISTANT_INSTRUCTIONS,
    "coffee": COFFEE_INSTRUCTIONS,
}
