"""Rows of the text corpora as requests for our tools, as talk, and as whole dialogues.

A row becomes a request only if its labels or its words give every argument as a span of the
sentence; otherwise it is left out. Share-alike corpora are read only with the option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Any

from dlm.datagen.corpora import intent_tools, labelled_rows, orders, spans
from dlm.datagen.corpora.files import rows
from dlm.datagen.corpora.intent_tools import TOPICS, UNFIT, Purpose
from dlm.datagen.holdout import held_out, unseen
from dlm.datagen.language.noise import plain
from dlm.datagen.language.phrases import Piece

_UTTERANCES = (
    "clinc_oos", "nlu_evaluation_data", "hwu64", "slurp_devel", "snips_train",
    "mycroft_ovos_intents", "ohf_intents_expanded",
)  # fmt: skip
_INTENTS_ALONE = ("banking77_train", "rasa_nlu")
_DIALOGUES = ("home_llm_dialogues", "ohf_intents_dialogues")
_SHARE_ALIKE_DIALOGUES = "sgd_train"
_PERSONAS = ("friendly", "professional")
_NEAR = re.compile(
    r"\b(coffee|latte|tea|drinks?|order|timers?|alarms?|weather|remind\w*|lists?|lights?|time|date)\b",
    re.I,
)
_NAMELESS = re.compile(r"\bhave a name\b", re.I)
_OTHER_NAMES = re.compile(r"\b(olly|alexa|siri|cortana|google|mycroft|bot|microsoft)\b", re.I)


@dataclass(slots=True)
class Corpora:
    """The content of the corpora, for one split.

    Attributes:
        requests: Tool → sentences in pieces whose slots are the tool's parameters.
        talk: Topic of ``data/talk.toml``, "repeat" or "bye" → sentences.
        unfit: Sentences that ask for what no tool of ours does.
        chat: (question, answer) pairs of small talk.
        dialogues: Whole dialogues with tools of their own, in the chat format.
        purposes: Intents that may be offered as tools.
    """

    requests: dict[str, list[list[Piece]]] = field(default_factory=dict)
    talk: dict[str, list[str]] = field(default_factory=dict)
    unfit: list[str] = field(default_factory=list)
    chat: list[tuple[str, str]] = field(default_factory=list)
    dialogues: list[dict[str, Any]] = field(default_factory=list)
    purposes: dict[str, Purpose] = field(default_factory=dict)

    def request(self, tool: str, rng: Random) -> list[Piece] | None:
        """A sentence that asks for a tool; None if there is none."""
        rows = self.requests.get(tool)
        return rng.choice(rows) if rows else None


def load(directory: Path, split: str, share_alike: bool = False) -> Corpora:
    """Read the corpora that suit the agents.

    Args:
        directory: Where the ``.jsonl.xz`` files are; a missing file is an error.
        split: "train" or "heldout"; a hash of its text puts a row into one of them.
        share_alike: Whether the schema-guided dialogues, which are share-alike, may be used.

    Raises:
        FileNotFoundError: A corpus is missing.
    """
    corpora = Corpora()
    wanted = split == "heldout"
    labelled_rows: list[dict[str, Any]] = []
    utterances: list[dict[str, Any]] = []
    for name in (*_UTTERANCES, *_INTENTS_ALONE):
        found_rows = list(rows(directory / f"{name}.jsonl.xz"))
        if not name.startswith("ohf"):
            labelled_rows += found_rows
        if name not in _INTENTS_ALONE:
            utterances += filter(_suits, found_rows)
    for row in utterances:
        if held_out(row["text"]) == wanted:
            _take(corpora, row, wanted)
    corpora.requests = _requests(utterances, wanted)
    corpora.purposes = intent_tools.collect(labelled_rows, split)
    sold = chain.from_iterable(rows(directory / f"{name}.jsonl.xz") for name in orders.FILES)
    corpora.requests["order_drink"] = [
        found for text, found in orders.drink_orders(sold) if orders.order_held_out(text) == wanted
    ]
    for row in rows(directory / "qna_chitchat.jsonl.xz"):
        if row["persona"] in _PERSONAS and held_out(row["question"]) == wanted:
            _chat(corpora, row["question"], row["answer"])
    for name in _DIALOGUES:
        for row in rows(directory / f"{name}.jsonl.xz"):
            if held_out(row["id"]) == wanted and (found := dialogue(row)) is not None:
                corpora.dialogues.append(found)
    if share_alike:
        corpora.dialogues += services(directory / f"{_SHARE_ALIKE_DIALOGUES}.jsonl.xz", wanted)
    return corpora


def services(path: Path, wanted: bool, most: int = 20_000) -> list[dict[str, Any]]:
    """Beginnings of schema-guided dialogues, of the held-out part or of the rest.

    Args:
        path: The corpus.
        wanted: Whether the held-out part is wanted.
        most: Limit on the rows that are read.
    """
    kept = (row for row in islice(rows(path), most) if held_out(row["id"]) == wanted)
    return [found for row in kept if (found := beginning(row)) is not None]


def beginning(row: dict[str, Any]) -> dict[str, Any] | None:
    """The longest beginning of a dialogue that calls a tool and that `dialogue` accepts."""
    messages = row["messages"]
    for end in range(len(messages) - 1, 2, -1):
        told = messages[end]["role"] == "assistant" and messages[end - 1]["role"] == "tool"
        if told and (found := dialogue({**row, "messages": messages[: end + 1]})) is not None:
            return found
    return None


def _suits(row: dict[str, Any]) -> bool:
    return not _OTHER_NAMES.search(row["text"]) and len(row["text"].split()) <= 22


def _take(corpora: Corpora, row: dict[str, Any], wanted: bool) -> None:
    """Keep a row if it is talk, or asks for what no tool of ours does."""
    intent = row["intent"]
    topic = TOPICS.get(intent)
    if topic is not None:
        corpora.talk.setdefault(topic, []).append(row["text"])
    # An intent that is held out as a tool must not be learned as a request to decline either.
    elif intent in UNFIT and not _NEAR.search(row["text"]) and (wanted or not unseen(intent)):
        corpora.unfit.append(row["text"])


def _requests(utterances: list[dict[str, Any]], wanted: bool) -> dict[str, list[list[Piece]]]:
    """Tool → a split's rows that ask for it; the rows of both splits show which are complete."""
    read = [(row["text"], found) for row in utterances if (found := labelled_rows.request(row))]
    requests: dict[str, list[list[Piece]]] = {}
    for (text, (tool, pieces)), whole in zip(
        read, spans.complete([found for _, found in read]), strict=True
    ):
        if whole and held_out(text) == wanted:
            requests.setdefault(tool, []).append(pieces)
    return requests


def _chat(corpora: Corpora, question: str, answer: str) -> None:
    short = 2 <= len(answer.split()) <= 14 and len(question.split()) <= 14
    if short and not _OTHER_NAMES.search(question + answer) and not _NAMELESS.search(answer):
        corpora.chat.append((question, answer))


def dialogue(row: dict[str, Any]) -> dict[str, Any] | None:
    """A corpus dialogue in the project's format; None if an argument is not in the user's words.

    Dialogues that are too long are refused as well. Text in messages with calls is dropped, and
    arguments take the user's casing.
    """
    said = [m["content"] for m in row["messages"] if m["role"] == "user"]
    if (
        len(row["tools"]) > 20
        or len(row["messages"]) > 12
        or row["messages"][-1]["role"] != "assistant"
    ):
        return None
    required = {t["name"]: t["parameters"].get("required", []) for t in row["tools"]}
    orders = {t["name"]: list(t["parameters"].get("properties", {})) for t in row["tools"]}
    messages = []
    for message in row["messages"]:
        if message.get("tool_calls"):
            calls = []
            for call in message["tool_calls"]:
                given = call["arguments"]
                arguments = {
                    k: _as_said(given[k], said) for k in orders[call["name"]] if k in given
                }
                needed = required[call["name"]]
                if None in arguments.values() or any(n not in arguments for n in needed):
                    return None
                calls.append({"name": call["name"], "arguments": arguments})
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        messages.append(message)
    if messages[-1].get("content") is None or len(messages[-1]["content"].split()) > 25:
        return None
    return {"tools": [_plain_tool(t) for t in row["tools"]], "messages": messages}


def as_heard(row: dict[str, Any], rng: Random) -> dict[str, Any]:
    """A corpus dialogue, mostly with its user's side and the arguments as a bare transcript."""
    if rng.random() < 0.4:
        return row
    digits = rng.random() < 0.2
    messages = []
    for message in row["messages"]:
        if message["role"] == "user":
            message = {**message, "content": _heard(message["content"], digits)}
        elif message.get("tool_calls"):
            calls = []
            for call in message["tool_calls"]:
                given = {k: _heard(v, digits) for k, v in call["arguments"].items()}
                calls.append({"name": call["name"], "arguments": given})
            message = {**message, "tool_calls": calls}
        messages.append(message)
    return {**row, "messages": messages}


def _heard(value: Any, digits: bool) -> Any:
    return " ".join(plain(value, digits).split()) if isinstance(value, str) else value


def _plain_tool(tool: dict[str, Any]) -> dict[str, Any]:
    properties = tool["parameters"].get("properties", {})
    required = tool["parameters"].get("required", [])
    return {
        "name": tool["name"],
        "description": tool["description"].rstrip(".") + ".",
        "parameters": {"type": "object", "properties": properties, "required": required},
    }


def _as_said(value: Any, said: list[str]) -> Any:
    """A string as the user said it, None if they did not; other values are returned as they are."""
    if not isinstance(value, str):
        return value
    words = re.findall(r"\w+", value.lower())
    for text in said:
        found = re.search(r"\b" + r"\W+".join(map(re.escape, words)) + r"(?![\w'])", text, re.I)
        if words and found:
            return found[0]
    return None
