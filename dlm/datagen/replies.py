"""What the agent says after a tool's result, when it cannot help, and first of all.

Fields come from the result, so a reply never holds a value that no tool or user gave. Knows nothing
of how results are made.
"""

from __future__ import annotations

REPLIES: dict[str, dict[str, tuple[str, ...]]] = {
    "get_time": {
        "done": (
            "It's {time}.", "It is {time}.", "The time is {time}.", "It's {time} now.",
            "Right now it is {time}.",
        ),
        "place": (
            "It is {time} in {place}.", "It's {time} in {place}.", "In {place} it is {time}.",
            "The time in {place} is {time}.", "It's {time} there.",
        ),
    },
    "get_date": {
        "done": (
            "Today is {date}.", "It's {date}.", "It is {date}.", "The date is {date}.",
        ),
        "day": (
            "{fact}", "That is {date}.", "{fact}", "{day} is {date}.",
        ),
    },
    "set_timer": {
        "done": (
            "Timer set for {duration}.", "Okay, {duration}, starting now.",
            "Done, {duration} on the timer.", "Your timer is set for {duration}.",
            "{duration}, starting now.", "I set a timer for {duration}.",
            "Okay, the timer runs for {duration}.", "Sure, {duration} from now.",
        ),
        "named": (
            "{Name} timer set for {duration}.", "Okay, the {name} timer is set for {duration}.",
            "Done, {duration} for the {name} timer.", "Your {name} timer runs for {duration}.",
            "I set the {name} timer for {duration}.", "{duration} for the {name}, starting now.",
        ),
    },
    "list_timers": {
        "empty": (
            "No timers are running.", "There are no timers running.", "You have no timers running.",
            "No timer is running right now.",
        ),
        "one": (
            "There is 1 timer: {timers}.", "You have 1 timer with {left} left.", "{timers}.",
            "There is {left} left.", "One timer is running: {timers}.",
        ),
        "many": (
            "You have {count} timers: {timers}.", "There are {count} timers: {timers}.",
            "{count} timers: {timers}.", "{count} are running: {timers}.",
        ),
    },
    "cancel_timer": {
        "done": (
            "Timer cancelled.", "Okay, I cancelled the timer.", "Done, the timer is off.",
            "The timer is cancelled.", "I stopped the timer.",
        ),
        "all": (
            "{count} timers cancelled.", "Okay, I cancelled {count} timers.",
            "All {count} timers are off.",
        ),
        "named": (
            "{Name} timer cancelled.", "Okay, the {name} timer is cancelled.",
            "Done, I stopped the {name} timer.", "I cancelled the {name} timer.",
        ),
    },
    "set_alarm": {
        "done": (
            "Alarm set for {when}.", "Okay, I'll wake you at {when}.",
            "Your alarm is set for {when}.", "Done, the alarm rings at {when}.",
            "I set an alarm for {when}.", "Okay, {when}.",
        ),
    },
    "set_reminder": {
        "noted": (
            "Okay, I noted: {text}.", "Reminder noted: {text}.", "Noted: {text}.",
            "I'll remember: {text}.", "Okay, {text}. I noted it.",
        ),
        "done": (
            "Reminder set for {when}: {text}.", "Okay, I'll remind you at {when}: {text}.",
            "Done. {when}: {text}.", "I set a reminder for {when}: {text}.",
            "Your reminder is set for {when}.", "Okay, at {when}: {text}.",
        ),
    },
    "list_reminders": {
        "empty": (
            "You have no reminders.", "There are no reminders.", "No reminders right now.",
        ),
        "one": (
            "You have 1 reminder: {reminders}.", "There is 1 reminder: {reminders}.",
            "Just one: {reminders}.",
        ),
        "many": (
            "You have {count} reminders: {reminders}.", "There are {count} reminders: {reminders}.",
            "{count} reminders: {reminders}.",
        ),
    },
    "add_to_list": {
        "done": (
            "Added {item} to the {list} list.", "I added {item} to the {list} list.",
            "Okay, {item} is on the {list} list.", "Done, {item} is on your {list} list.",
            "{Item} is on the {list} list now.", "I put {item} on the {list} list.",
            "Okay, I added {item}.",
        ),
        "already": (
            "{Item} is already on the {list} list.", "You already have {item} on the {list} list.",
            "It's already there: {item}.",
        ),
    },
    "remove_from_list": {
        "done": (
            "Removed {item} from the {list} list.", "I removed {item} from the {list} list.",
            "Okay, {item} is off the {list} list.", "Done, I took {item} off the {list} list.",
            "{Item} is off your {list} list.",
        ),
    },
    "read_list": {
        "empty": (
            "The {list} list is empty.", "Your {list} list is empty.",
            "There is nothing on the {list} list.",
        ),
        "done": (
            "On the {list} list: {items}.", "The {list} list has {items}.",
            "You have {items} on the {list} list.", "Your {list} list: {items}.",
            "{count} on the {list} list: {items}.", "The list has {items}.",
        ),
    },
    "calculate": {
        "done": (
            "{Expression} is {value}.", "That is {value}.", "It's {value}.",
            "The answer is {value}.", "That makes {value}.",
            "{Expression} equals {value}.",
        ),
    },
    "convert_units": {
        "done": (
            "{had} is {have}.", "That is {have}.", "That's {have}.", "{had} makes {have}.",
            "It's {have}.", "{had} equals {have}.",
        ),
    },
    "convert_currency": {
        "done": (
            "{had} is {have}.", "That is {have}.", "That's {have}.", "{had} gives you {have}.",
            "You get {have}.", "{had} is worth {have}.",
        ),
    },
    "get_weather": {
        "done": (
            "{day} in {place}: {sky}, {degrees} degrees.", "{Sky} in {place}, {degrees} degrees.",
            "{day} in {place}: {sky}, with {degrees} degrees.",
            "In {place}: {sky}, {degrees} degrees.",
            "{day} in {place}: {sky}, high {high}, low {low}.",
            "{Sky} and {degrees} degrees in {place}, with a high of {high}.",
            "The forecast for {place} is {sky}, high {high}, low {low}.",
            "{day} in {place}: {sky}, {degrees} degrees, high {high}, low {low}.",
        ),
    },
    "get_stock_price": {
        "done": (
            "{company} is at {price} dollars.", "{company} trades at {price} dollars.",
            "A share of {company} is {price} dollars.", "{company} stands at {price} dollars.",
            "It's at {price} dollars.",
        ),
    },
    "set_device": {
        "done": (
            "The {device} {is} now {state}.", "Okay, the {device} {is} {state}.",
            "Done, the {device} {is} {state}.", "The {device} {is} {state} now.",
            "All done, the {device} {is} {state}.", "Okay, {device} {state}.",
        ),
    },
    "get_device": {
        "done": (
            "The {device} {is} {state}.", "The {device} {is} {state} right now.",
            "I checked, the {device} {is} {state}.", "It says the {device} {is} {state}.",
            "Right now the {device} {is} {state}.",
        ),
    },
    "search_documents": {
        "done": (
            "From {source}: {passage}", "It says in {source}: {passage}", "{passage}",
            "I found this in {source}: {passage}", "In {source}: {passage}",
        ),
    },
    "end_conversation": {
        "done": (
            "Goodbye.", "Goodbye!", "Bye, talk to you later.", "Bye for now.",
            "Goodbye, take care.", "See you later.", "Bye.",
        ),
    },
    "order_drink": {
        "done": (
            "Added {drink}. Anything else?", "{Drink}, got it. Anything else?",
            "I added {drink}. Anything else?", "Okay, {drink}. What else?",
            "Got it, {drink}. Anything else?", "{Drink}, added. Would you like anything else?",
            "Sure, {drink}. What else can I get you?", "{Drink}. Will that be all?",
            "Your order now has {drink}. Anything else?",
        ),
    },
    "remove_drink": {
        "done": (
            "I removed the {drink}. Anything else?", "Okay, no {drink}. Anything else?",
            "The {drink} is off the order. What else?", "Removed: {drink}. Anything else?",
            "Done, the {drink} is gone. Anything else?",
        ),
    },
    "read_order": {
        "empty": (
            "The order is empty. What would you like?", "Nothing yet. What can I get you?",
            "Your order is empty so far. What would you like?",
        ),
        "done": (
            "The order is: {order}.", "You have {order}.", "So far: {order}. Anything else?",
            "I have {order}. Is that all?", "Your order is {order}.",
            "That's {order}. Is that right?",
        ),
    },
    "confirm_order": {
        "done": (
            "Order confirmed: {order}.", "Your order is placed: {order}.",
            "Thank you. {order}, coming up.", "All set: {order}. Thank you.",
        ),
        "named": (
            "Order confirmed for {name}: {order}.", "Thank you, {name}. Your order is {order}.",
            "All set, {name}: {order}.", "Thanks, {name}. {order}, coming up.",
            "Your order is placed, {name}. Thank you.",
        ),
    },
    "transfer_call": {
        "done": (
            "Transferring you to {to}.", "One moment, I'll transfer you to {to}.",
            "Okay, I'm putting you through to {to}.", "Connecting you to {to}.",
        ),
    },
}  # fmt: skip
"""By tool and case of its result."""

ERRORS = (
    "{error}", "Sorry, {low}", "I'm sorry, {low}", "{error}", "Sorry. {error}",
)  # fmt: skip
"""How a failed call is told; ``low`` is the error with a small first letter."""

FIXED = (
    "Okay, I changed it to {drink}. Anything else?", "Now it's {drink}. Anything else?",
    "Changed: {drink}. What else?", "Sure, {drink} instead. Anything else?",
)  # fmt: skip
"""Replies to a changed drink."""

CLEARED = (
    "Okay, I cancelled everything.", "All removed. What would you like?",
    "Okay, the order is empty now.", "Sure, we start over. What can I get you?",
    "Okay, everything is off the order.",
)  # fmt: skip
"""Replies to an order taken back."""

DECLINES = (
    "Sorry, I can't {what}.", "I can't {what} here.", "Sorry, that is not something I can do.",
    "I'm afraid I can't {what}.", "I have no tool for that, sorry.", "Sorry, I can't do that.",
    "I'm not able to {what}.", "That is beyond what I can do here.",
    "Sorry, I don't know how to {what}.",
)  # fmt: skip

ABILITIES: dict[str, str] = {
    "get_time": "tell the time", "get_date": "tell the date", "set_timer": "set timers",
    "list_timers": "see timers", "cancel_timer": "stop timers", "set_alarm": "set alarms",
    "set_reminder": "set reminders", "list_reminders": "see reminders", "add_to_list": "keep lists",
    "remove_from_list": "change lists", "read_list": "read lists", "calculate": "do sums",
    "convert_units": "convert units", "convert_currency": "convert currencies",
    "get_weather": "check the weather", "get_stock_price": "check stock prices",
    "set_device": "control devices", "get_device": "check devices",
    "search_documents": "search documents", "order_drink": "take drink orders",
    "remove_drink": "change the order", "read_order": "read an order",
    "confirm_order": "place an order", "transfer_call": "transfer calls",
}  # fmt: skip
"""What the agent cannot do when a tool is not offered, after "I can't"."""

GREETINGS: dict[str, tuple[str, ...]] = {
    "assistant": (
        "Hello, this is Quicksilver. How can I help?",
        "Hello, this is Quicksilver. How can I help?", "Hello, how can I help?",
        "Hi, what can I do for you?", "Hello!", "Hi there, I'm listening.",
        "Good (morning|evening|afternoon), how can I help?", "Hi, I'm Quicksilver. How can I help?",
        "Hello, what do you need?", "Yes?", "I'm here. What can I do?",
    ),
    "coffee": (
        "Hello, this is the coffee shop. What can I get you?",
        "Hello, this is the coffee shop. What can I get you?", "Hi, what can I get you?",
        "Hello, what would you like to order?", "Welcome, what can I get started for you?",
        "Good (morning|afternoon), what can I get you?", "Thanks for calling, what would you like?",
        "Hi, this is Quicksilver. What would you like?",
        "Hello, coffee shop, what can I make for you?",
    ),
}  # fmt: skip

INSTRUCTIONS = (
    "You are a helpful voice assistant. Keep answers short.",
    "You are {name}, a voice assistant. Reply in one short sentence and use tools when needed.",
    "Answer briefly. Call a tool if one fits the request.",
    "You speak with the user by voice. Be short and honest. Use the tools.",
    "You are {name}, an agent for {company}. Use the tools you have and say only what they return.",
    "You help people at home by voice.",
    "You answer the telephone for {company}. Be polite and brief.", "Be concise.",
    "You are a voice agent. Never invent values; ask when something is missing.",
    "You are {name}. Speak in short plain sentences.", "",
)  # fmt: skip
"""Other instructions, for rows whose agent is not one of ours."""
