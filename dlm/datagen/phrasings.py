"""How people speak with the assistant beyond whole requests: follow-ups, corrections, answers.

Notation of all phrasings: a leading ``!`` marks an order, which may be wrapped ("can you ...
please"); a trailing ``?`` a question. Slots are the tool's parameters, or stand for one
(`dlm.datagen.slots.ALIASES`); ``item2`` and the like belong to a second call in the same turn.
"""

from __future__ import annotations

MORE: dict[str, tuple[str, ...]] = {
    "get_time": (
        "and in {place}?", "what about {place}?", "how about in {place}?", "and {place}?",
        "now {place}", "and what time is it in {place}?", "same for {place}",
    ),
    "get_date": (
        "and {day}?", "what about {day}?", "how about {day}?", "and what date is {day}?",
    ),
    "set_timer": (
        "and another one for {duration}", "and one for {duration}", "also {duration}",
        "another timer for {duration}", "and a {name} timer for {duration}",
        "plus one for {duration}",
    ),
    "set_alarm": (
        "and another one (at|for) {when}", "also one for {when}", "and {when}",
        "one more for {when} please",
    ),
    "add_to_list": (
        "and {item}", "also {item}", "{item} too", "oh and {item}", "and add {item}",
        "we also need {item}", "plus {item}", "also put {item} on there", "and {item} as well",
        "one more thing {item}",
    ),
    "remove_from_list": (
        "and {item}", "also {item}", "{item} too", "and remove {item} as well",
    ),
    "read_list": (
        "and the {list} list?", "what about the {list} list?", "how about my {list} list?",
    ),
    "calculate": (
        "and {expression}?", "what about {expression}?", "and what is {expression}?",
        "now {expression}", "how about {expression}?",
    ),
    "convert_units": (
        "and {amount} {from_unit}?", "what about {amount} {from_unit}?", "and in {to_unit}?",
        "how about {amount}?", "and {amount}?",
    ),
    "convert_currency": (
        "and {amount} {from_currency}?", "what about {amount}?", "and in {to_currency}?",
        "how about in {to_currency}?", "and how many {to_currency}?",
    ),
    "get_weather": (
        "and {day}?", "what about {day}?", "how about {day}?", "and in {place}?",
        "what about {place}?", "how about in {place}?", "and {place}?", "and in {place} {day}?",
        "and the day after that no {day}", "what about {place} {day}?", "now {place}",
        "same question for {place}",
    ),
    "get_stock_price": (
        "and {company}?", "what about {company}?", "how about {company}?", "and how is {company}?",
        "now {company}",
    ),
    "set_device": (
        "and the {device}", "the {device} too", "also the {device}", "and in the {room}",
        "the {room} one too", "and the {room} {device} too", "and the {device} as well",
    ),
    "get_device": (
        "and the {device}?", "what about the {device}?", "and in the {room}?",
        "how about the {room} {device}?", "and the one in the {room}?",
    ),
    "search_documents": (
        "and about {query}?", "what about {query}?", "now look for {query}", "and {query}?",
    ),
    "set_reminder": (
        "and to {text}", "also to {text}", "and remind me to {text} {when}",
    ),
    "cancel_timer": (
        "and the {name} timer", "the {name} one too", "and {name}",
    ),
}  # fmt: skip
"""Follow-ups: what is not said again is taken from the call before."""

FIX: dict[str, tuple[str, ...]] = {
    "set_timer": (
        "{no} make it {duration}", "{no} {duration}", "{no} i meant {duration}",
        "change (it|that) to {duration}", "actually {duration}", "{no} i said {duration}",
        "make that {duration} instead", "wait {duration}",
    ),
    "set_alarm": (
        "{no} make it {when}", "{no} {when}", "{no} i meant {when}", "actually {when}",
        "change it to {when}", "{no} i said {when}",
    ),
    "set_reminder": (
        "{no} make it {when}", "{no} (at|) {when}", "actually {when}", "{no} to {text}",
        "{no} i meant {when}",
    ),
    "add_to_list": (
        "{no} i meant {item}", "{no} {item}", "{no} i said {item}", "sorry i meant {item}",
        "not that {item}", "{no} {item} not that",
    ),
    "get_weather": (
        "{no} i meant {place}", "{no} in {place}", "{no} {day}", "{no} i meant {day}",
        "{no} i said {place}", "sorry {place} {day}",
    ),
    "get_time": (
        "{no} in {place}", "{no} i meant {place}", "sorry {place}",
    ),
    "get_date": (
        "{no} {day}", "{no} i meant {day}",
    ),
    "calculate": (
        "{no} {expression}", "{no} i meant {expression}", "{no} i said {expression}",
    ),
    "convert_units": (
        "{no} {amount}", "{no} to {to_unit}", "{no} i meant {to_unit}", "{no} {amount} {from_unit}",
    ),
    "convert_currency": (
        "{no} {amount}", "{no} to {to_currency}", "{no} i meant {to_currency}",
        "{no} {amount} {from_currency}",
    ),
    "get_stock_price": (
        "{no} {company}", "{no} i meant {company}", "{no} i said {company}",
    ),
    "set_device": (
        "{no} the {device}", "{no} in the {room}", "{no} {state}", "{no} i meant the {device}",
        "{no} set it to {state}", "actually {state}", "{no} the {room} {device}",
    ),
    "get_device": (
        "{no} the {device}", "{no} the {room} {device}", "{no} in the {room}",
    ),
    "search_documents": (
        "{no} {query}", "{no} i meant {query}", "{no} i said {query}",
    ),
}  # fmt: skip
"""Corrections of the call before; ``no`` is filled with a word of refusal."""

BARE: dict[str, dict[str, tuple[str, ...]]] = {
    "set_timer": {
        "duration": (
            "!set a timer", "!start a timer", "timer please", "i need a timer",
            "!set a {name} timer", "new timer", "!start a {name} timer", "can i have a timer?",
        ),
    },
    "set_alarm": {
        "when": (
            "!set an alarm", "!wake me up", "i need an alarm", "new alarm", "!set an alarm for me",
            "alarm please",
        ),
    },
    "set_reminder": {
        "text": (
            "!set a reminder", "!remind me of something", "i need a reminder",
            "!remind me (at|) {when}", "!set a reminder for {when}", "new reminder",
        ),
    },
    "add_to_list": {
        "item": (
            "!add something to (the|my) list", "!add something to my {list} list",
            "!put something on the list", "new item for the {list} list",
            "i want to add to my {list} list",
        ),
    },
    "remove_from_list": {
        "item": (
            "!take something off the list", "!remove an item from my {list} list",
            "!remove something from the list",
        ),
    },
    "calculate": {
        "expression": (
            "!calculate something", "i have a math question", "can you do math?",
            "!do a calculation", "!help me with a sum",
        ),
    },
    "convert_units": {
        "to_unit": (
            "!convert {amount} {from_unit}", "i want to convert {amount} {from_unit}",
            "{amount} {from_unit} in another unit",
        ),
    },
    "convert_currency": {
        "to_currency": (
            "!convert {amount} {from_currency}", "!exchange {amount} {from_currency}",
            "i want to change {amount} {from_currency}",
        ),
    },
    "get_stock_price": {
        "company": (
            "!check a stock [price]", "!tell me a stock price", "how are stocks doing?",
            "i want a share price",
        ),
    },
    "set_device": {
        "state": (
            "!change the {device}", "!adjust the {room} {device}", "!set the {device}",
            "!do something with the {room} {device}",
        ),
        "device": (
            "!turn something {state}", "!turn {state} in the {room}", "!switch it {state}",
        ),
    },
    "get_device": {
        "device": (
            "!check a device", "is it on in the {room}?", "!check something in the {room}",
        ),
    },
    "search_documents": {
        "query": (
            "!search my (documents|notes)", "!look something up in my notes",
            "!find something in my files", "i'm looking for a document",
        ),
    },
}  # fmt: skip
"""Requests that lack a required parameter, by tool and the parameter that is missing."""

ASK: dict[str, tuple[str, ...]] = {
    "duration": (
        "For how long?", "How long should it run?", "For how long should I set it?",
        "Sure, for how long?", "How long?", "What duration would you like?",
    ),
    "when": (
        "For what time?", "When should it ring?", "For when?", "Sure, what time?",
        "What time would you like?", "At what time?",
    ),
    "text": (
        "What should I remind you of?", "What is it about?", "Sure, what should I remember?",
        "What would you like to be reminded of?", "Reminder about what?",
    ),
    "item": (
        "What is the item?", "Which item?", "What would you like to add or remove?",
        "Sure, which item is it?", "What item?",
    ),
    "expression": (
        "What should I calculate?", "Sure, what is the sum?", "Go ahead, which numbers?",
        "What would you like me to work out?",
    ),
    "to_unit": (
        "To which unit?", "Into what unit?", "Which unit would you like?",
    ),
    "to_currency": (
        "To which currency?", "Into what currency?", "Which currency would you like?",
    ),
    "company": (
        "Which company?", "For which company?", "Sure, which stock?",
    ),
    "state": (
        "What should I set it to?", "How should I set it?", "To what?", "On or off?",
    ),
    "device": (
        "Which device?", "Which device do you mean?", "Sure, which one?",
    ),
    "query": (
        "What should I look for?", "What are you looking for?", "Sure, about what?",
    ),
    "drink": (
        "What would you like?", "Which drink?", "What drink would you like?",
        "Sure, which drink would you like?", "What can I get you?",
    ),
    "name": (
        "What name is it for?", "What is your name?", "Under which name?",
    ),
}  # fmt: skip
"""What the agent asks when a parameter is missing."""

GIVE: dict[str, tuple[str, ...]] = {
    "duration": (
        "{duration}", "for {duration}", "{duration} please", "make it {duration}",
        "let's say {duration}", "about {duration}",
    ),
    "when": (
        "{when}", "at {when}", "{when} please", "for {when}", "make it {when}",
    ),
    "text": (
        "{text}", "to {text}", "that i need to {text}", "i have to {text}",
    ),
    "item": (
        "{item}", "{item} please", "it's {item}", "just {item}", "{item} i think",
    ),
    "expression": (
        "{expression}", "what is {expression}", "{expression} please",
    ),
    "to_unit": (
        "{to_unit}", "to {to_unit}", "in {to_unit} please", "into {to_unit}",
    ),
    "to_currency": (
        "{to_currency}", "to {to_currency}", "in {to_currency} please",
    ),
    "company": (
        "{company}", "for {company}", "{company} please", "it's {company}",
    ),
    "state": (
        "{state}", "{state} please", "to {state}", "make it {state}", "set it to {state}",
    ),
    "device": (
        "the {device}", "{device}", "the {device} please", "i mean the {device}",
    ),
    "query": (
        "{query}", "about {query}", "{query} please", "anything on {query}",
    ),
    "drink": (
        "{drink}", "a {drink} please", "i'll have a {drink}", "a {size} {drink}",
        "a {size} {drink} with {milk}",
    ),
    "name": (
        "{name}", "it's {name}", "my name is {name}", "{name} please", "for {name}",
    ),
}  # fmt: skip
"""How the user answers such a question."""

REFUSALS = (
    "no", "no no", "no wait", "no sorry", "wait no", "oh no", "sorry", "uh no", "no that's wrong",
)  # fmt: skip
