"""Dialogues that teach a model a tool of your own: watering parts of a garden.

``python examples/fine_tuning/watering.py --out watering.jsonl`` writes 240 of them in the chat
JSONL format of OpenAI's fine-tuning. ``--heldout`` writes others to measure with, whose phrasings
and plants never occur in the first. Such data works if it has many phrasings, the tool's words also
where the tool must not be called, questions for missing information, and replies that repeat the
result.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

Row = dict[str, Any]

TOOL = {
    "name": "water_garden",
    "description": "Water a part of the garden.",
    "parameters": {
        "type": "object",
        "properties": {"plants": {"type": "string"}, "duration": {"type": "string"}},
        "required": ["plants"],
    },
}
REMINDER = {
    "name": "set_reminder",
    "description": "Remember something for the user.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "when": {"type": "string"}},
        "required": ["text"],
    },
}
INSTRUCTIONS = (
    "You are Quicksilver, a voice assistant. Answer in one or two short spoken sentences. "
    "Use a tool when one fits. Say only what the tools or the user said."
)
DURATIONS = {
    "ten minutes": "10 minutes",
    "five minutes": "5 minutes",
    "a minute": "1 minute",
    "two minutes": "2 minutes",
    "half an hour": "30 minutes",
    "twenty minutes": "20 minutes",
    "an hour": "1 hour",
    "thirty seconds": "30 seconds",
    "a quarter of an hour": "15 minutes",
    "three quarters of an hour": "45 minutes",
    "15 minutes": "15 minutes",
    "8 minutes": "8 minutes",
    "forty minutes": "40 minutes",
    "twelve minutes": "12 minutes",
}
PLANTS = {
    "train": (
        "roses", "tomatoes", "lawn", "herbs", "strawberries", "hedge", "flower bed", "front yard",
        "basil", "apple trees", "vegetable patch", "cucumbers", "lavender", "geraniums",
        "back lawn", "raised beds", "peppers", "sunflowers", "pots on the balcony", "rhubarb",
    ),
    "heldout": ("tulips", "grape vines", "pumpkins", "rock garden", "side yard", "blueberries"),
}  # fmt: skip
PLAIN = {
    "train": (
        "water the {plants}", "please water the {plants}", "can you water the {plants}",
        "give the {plants} some water", "turn the sprinkler on for the {plants}",
        "the {plants} need water", "the {plants} look dry", "could you give the {plants} a drink",
        "start watering the {plants}", "i want the {plants} watered", "spray the {plants}",
        "let the {plants} have some water please", "it's time to water the {plants}",
        "run the irrigation in the {plants}", "hey can the {plants} get some water",
        "the {plants} are thirsty", "would you mind watering the {plants}", "sprinkle the {plants}",
    ),
    "heldout": (
        "i need you to water the {plants}", "get some water to the {plants}",
        "make sure the {plants} get watered now", "hose down the {plants}",
        "the {plants} could use some water", "go ahead and water the {plants} for me",
    ),
}  # fmt: skip
TIMED = {
    "train": (
        "water the {plants} for {duration}", "for {duration} water the {plants}",
        "give the {plants} {duration} of water", "water the {plants} {duration} please",
        "can you run the sprinkler on the {plants} for {duration}",
        "the {plants} need {duration} of water", "{duration} of water for the {plants}",
        "please spray the {plants} for {duration}", "i'd like the {plants} watered for {duration}",
        "sprinkle the {plants} for {duration}", "let it rain on the {plants} for {duration}",
        "start the irrigation for the {plants} and stop after {duration}",
    ),
    "heldout": (
        "have the {plants} watered for {duration}",
        "leave the water on for the {plants} for {duration}",
        "could the {plants} get {duration} of watering", "soak the {plants} for {duration}",
    ),
}  # fmt: skip
VAGUE = {
    "train": (
        "water the garden", "start watering", "turn on the sprinkler", "everything is so dry",
        "can you do the watering", "i want to water something", "time to water", "water please",
        "the plants need water", "turn the hose on", "could you water for me", "do the irrigation",
        "water everything that's dry", "the garden is thirsty", "do some watering now",
        "give the plants a drink", "my plants look thirsty", "switch the sprinkler on",
    ),
    "heldout": ("get the watering going", "please water my plants", "run the sprinklers"),
}  # fmt: skip
TALK = {
    "train": (
        ("do {plants} need a lot of water", "I don't know much about {plants}, sorry."),
        ("i love my {plants}", "That's lovely."),
        ("i already watered the {plants}", "Good, then I'll leave them alone."),
        ("don't water the {plants}", "Okay, I won't."),
        ("the {plants} are growing so well", "I'm glad to hear that."),
        ("what's the best time to water the {plants}", "I'm not sure, sorry."),
        ("how much water do {plants} want", "I'm not sure, sorry."),
        ("why do my {plants} look so sad", "I don't know much about {plants}, sorry."),
        ("is it bad to water {plants} at noon", "I'm not sure, sorry."),
        ("how long may {plants} go without water", "I'm not sure, sorry."),
        ("when did we last water the {plants}", "I'm not sure, sorry."),
        ("should i water {plants} every day", "I'm not sure, sorry."),
        ("can {plants} get too much water", "I don't know much about {plants}, sorry."),
        ("leave the {plants} alone today", "Okay, I'll leave them alone."),
        ("skip the {plants}", "Okay, I won't."),
        ("the {plants} don't need any water", "Okay, I won't."),
        ("you needn't water the {plants} this evening", "Okay, I won't."),
        ("please do not water the {plants} now", "Okay, I won't."),
        ("no water for the {plants}", "Okay, I won't."),
        ("it rained on the {plants} all night", "Good, then I'll leave them alone."),
        ("my neighbour watered the {plants} this morning", "Good, then I'll leave them alone."),
        ("the {plants} are wet enough", "Good, then I'll leave them alone."),
        ("i'm going to water the {plants} myself", "Okay, I won't."),
        ("i bought some {plants} today", "That's lovely."),
        ("we ate the first {plants} today", "That's lovely."),
    ),
    "heldout": (
        ("how often should one water {plants}", "I'm not sure, sorry."),
        ("how do i know that {plants} need water", "I'm not sure, sorry."),
        ("no need to water the {plants} today", "Okay, I won't."),
        ("hold off on watering the {plants}", "Okay, I won't."),
        ("the {plants} got plenty of rain", "Good, then I'll leave them alone."),
        ("have you seen my {plants}", "That's lovely."),
    ),
}
REMIND = {
    "train": ("remind me to water the {plants} {when}", "{when} remind me to water the {plants}"),
    "heldout": ("set a reminder to water the {plants} {when}",),
}
WHEN = {"tomorrow": "tomorrow", "tonight": "tonight", "at six pm": "6:00 PM today"}
MORE = {
    "train": (
        "and the {plants}",
        "now the {plants}",
        "the {plants} too please",
        "same for the {plants}",
    ),
    "heldout": ("the {plants} as well", "then the {plants}"),
}
REPLIES = (
    "Okay, watering the {plants}{time}.",
    "The {plants} are getting water{time}.",
    "Sure, watering the {plants}{time}.",
)


class Writer:
    """Writes dialogues of one split.

    Args:
        rng: The source of all random choices.
        split: ``train`` or ``heldout``.
    """

    def __init__(self, rng: Random, split: str) -> None:
        self.rng = rng
        self.split = split
        self.messages: list[Row] = []

    def dialogue(self) -> Row:
        """Write one dialogue."""
        self.messages = [{"role": "system", "content": INSTRUCTIONS}]
        plants = self.rng.choice(PLANTS[self.split])
        kinds = (self.plain, self.timed, self.vague, self.talk, self.remind, self.more)
        self.rng.choices(kinds, (5, 6, 3, 6, 2, 3))[0](plants)
        tools = [TOOL, REMINDER]
        self.rng.shuffle(tools)
        return {
            "messages": self.messages,
            "tools": [{"type": "function", "function": tool} for tool in tools],
        }

    def plain(self, plants: str) -> None:
        """Add a request without a duration."""
        self.user(self.rng.choice(PLAIN[self.split]).format(plants=plants))
        self.water(plants, None)

    def timed(self, plants: str) -> None:
        """Add a request with a duration."""
        duration = self.rng.choice(list(DURATIONS))
        phrase = self.rng.choice(TIMED[self.split])
        self.user(phrase.format(plants=plants, duration=duration))
        self.water(plants, duration)

    def vague(self, plants: str) -> None:
        """Add a request that does not say what to water, the question for it, and the answer."""
        self.user(self.rng.choice(VAGUE[self.split]))
        self.agent(self.rng.choice(("What should I water?", "Which part of the garden?")))
        self.user(
            self.rng.choice(("the {plants}", "{plants}", "just the {plants}")).format(plants=plants)
        )
        self.water(plants, None)

    def talk(self, plants: str) -> None:
        """Add a message with the tool's words for which the tool must not be called."""
        said, reply = self.rng.choice(TALK[self.split])
        self.user(said.format(plants=plants))
        self.agent(reply.format(plants=plants))

    def remind(self, plants: str) -> None:
        """Add a request for another tool."""
        when = self.rng.choice(list(WHEN))
        self.user(self.rng.choice(REMIND[self.split]).format(plants=plants, when=when))
        text = f"water the {plants}"
        self.call(
            "set_reminder", {"text": text, "when": when}, f"Reminder set for {WHEN[when]}: {text}."
        )
        self.agent(f"Okay, I'll remind you to {text}.")

    def more(self, plants: str) -> None:
        """Add a request and a follow-up."""
        self.plain(plants)
        others = [p for p in PLANTS[self.split] if p != plants]
        other = self.rng.choice(others)
        self.user(self.rng.choice(MORE[self.split]).format(plants=other))
        self.water(other, None)

    def water(self, plants: str, duration: str | None) -> None:
        """Add the call, its result and the reply."""
        arguments = {"plants": plants} | ({"duration": duration} if duration else {})
        time = f" for {DURATIONS[duration]}" if duration else ""
        self.call("water_garden", arguments, f"Watering the {plants}{time}.")
        self.agent(self.rng.choice(REPLIES).format(plants=plants, time=time))

    def user(self, text: str) -> None:
        """Add a message of the user, written as by a recogniser or, at times, as by a person."""
        if self.rng.random() < 0.3:
            text = text[0].upper() + text[1:] + "."
        self.messages.append({"role": "user", "content": text})

    def agent(self, text: str) -> None:
        """Add a reply."""
        self.messages.append({"role": "assistant", "content": text})

    def call(self, name: str, arguments: Row, result: str) -> None:
        """Add a call and its result."""
        identity = f"call_{len(self.messages)}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": identity, "type": "function", "function": function}]
        self.messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        self.messages.append({"role": "tool", "tool_call_id": identity, "content": result})


def lines(count: int, split: str) -> Iterator[Row]:
    """``count`` dialogues of a split, the same every time."""
    writer = Writer(Random(f"watering/{split}"), split)
    for _ in range(count):
        yield writer.dialogue()


def main() -> None:
    """Write the dialogues into a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--heldout", action="store_true")
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        for line in lines(options.count, "heldout" if options.heldout else "train"):
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
