"""Dialogues in the format of a foreign checkpoint: its chat template, tokenizer and call syntax.

Templates are text, and text can spell special tokens, but a user who says one must not end the
message or open a call. So every special token in a caller's text is broken up with a character that
no text has, the template is filled, and the result is encoded piece by piece between the breaks.

Calls are read if the tokenizer has Qwen's tokens for them: ``<tool_call>``, a JSON object with
``name`` and ``arguments``, ``</tool_call>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dlm.language.chat_format import JsonCalls, unspellable
from dlm.language.messages import Answer, AnswerError, Call, Tool, Turn
from dlm.language.schema import admits_null, is_words, options, read_value, written
from dlm.network.config import ModelConfig

BREAK = "\ue000"
"""A private-use character of Unicode; it is removed from a caller's text first."""

OPENING, CLOSING = "<tool_call>", "</tool_call>"
ROLES = ("system", "user", "assistant", "tool")

_PROBE = "zxcv"


class ChatTemplate:
    """Encodes dialogues and decodes answers: a `dlm.language.chat_format.Dialect`.

    Args:
        tokenizer: A fast tokenizer of transformers with a chat template.
        mask: Id of the mask.
        ends: Ids that end an answer, besides the one that the template writes.

    Raises:
        ValueError: There is no chat template, or nothing ends a message.
    """

    def __init__(self, tokenizer: Any, mask: int, ends: Sequence[int] = ()) -> None:
        if not tokenizer.chat_template:
            raise ValueError("chat_template: got none, expected one in tokenizer_config.json")
        self._tokenizer = tokenizer
        self._backend = tokenizer.backend_tokenizer
        added = self._backend.get_added_tokens_decoder()
        self._added = {token.content: number for number, token in added.items()}
        self._special = re.compile("|".join(map(re.escape, self._added)) or "(?!)")
        vocabulary = max(self._backend.get_vocab(with_added_tokens=True).values())
        self.mask = mask
        self.size = max(vocabulary, mask) + 1
        self.end = self._find_end()
        self.ends = frozenset({self.end, *ends})
        opening, closing = self._added.get(OPENING), self._added.get(CLOSING)
        takes_tools = "tools" in str(tokenizer.chat_template)
        self.reasoning = None
        self.calls = None
        if opening is not None and closing is not None and takes_tools:
            self.calls = JsonCalls(opening, closing)
        spoken = {*self.ends, opening, closing}
        special = {number for number, token in added.items() if token.special}
        self.never = tuple(sorted({mask, *special} - spoken))
        self._unsaid = frozenset({mask, *special, *self.ends, opening, closing})

    @classmethod
    def load(cls, directory: Path, config: ModelConfig) -> ChatTemplate:
        """Read a checkpoint directory's tokenizer and chat template; its code is never run.

        Raises:
            ValueError: They are missing, malformed, or need the checkpoint's own code.
        """
        from transformers import AutoTokenizer, PretrainedConfig

        try:
            tokenizer = AutoTokenizer.from_pretrained(
                str(directory),
                # Given here because transformers would read config.json, and may not know its
                # family.
                config=PretrainedConfig(),
                trust_remote_code=False,
                local_files_only=True,
            )
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise ValueError(f"{directory}: tokenizer: {error}") from error
        if not tokenizer.is_fast:
            raise ValueError(f"{directory}: tokenizer: got a slow one, expected tokenizer.json")
        ends = [config.eos_token_id]
        generation = directory / "generation_config.json"
        if generation.is_file():
            named = json.loads(generation.read_text(encoding="utf-8")).get("eos_token_id")
            ends += named if isinstance(named, list) else [named] if named is not None else []
        try:
            return cls(tokenizer, config.mask_token_id, ends)
        except ValueError as error:
            raise ValueError(f"{directory}: {error}") from error

    def text(self, text: str) -> list[int]:
        """See `Dialect.text`."""
        return self._encode(self._broken(text))

    def prompt(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """See `Dialect.prompt`."""
        return self._encode(self._filled(turns, tools, answer=True))

    def ended(self, turns: Sequence[Turn], tools: Sequence[Tool] = ()) -> list[int]:
        """See `Dialect.ended`."""
        ids = self._encode(self._filled(turns, tools, answer=False))
        last = len(ids) - ids[::-1].index(self.end) if self.end in ids else len(ids)
        return ids[:last]

    def spell(self, answer: Answer, tools: Sequence[Tool] = ()) -> list[int]:
        """See `Dialect.spell`."""
        ids = self.text(answer.content)
        for call in answer.calls:
            if self.calls is None:
                raise ValueError(f"got a call of {call.name}, and this checkpoint has none")
            body = json.dumps({"name": call.name, "arguments": dict(call.arguments)})
            line = self.text("\n") if ids else []
            ids += [*line, self.calls.opening, *self.text(f"\n{body}\n"), self.calls.closing]
        return [*ids, self.end]

    def words(self, tokens: Sequence[int]) -> list[int]:
        """See `Dialect.words`."""
        for index, token in enumerate(tokens):
            if token in self.ends or (self.calls and token == self.calls.opening):
                return list(tokens[:index])
        return list(tokens)

    def decode(self, tokens: Sequence[int]) -> str:
        """See `Dialect.decode`."""
        plain = [token for token in tokens if token not in self._unsaid]
        return str(self._backend.decode(plain, skip_special_tokens=True))

    def unspellable(self) -> Mapping[str, Any]:
        """See `Dialect.unspellable`."""
        return unspellable(json.loads(self._backend.to_str()))

    def answer(self, tokens: Sequence[int], tools: Sequence[Tool]) -> Answer:
        """See `Dialect.answer`."""
        tokens = list(tokens)
        end = next((at for at, token in enumerate(tokens) if token in self.ends), len(tokens))
        tokens = tokens[:end]
        content = self.words(tokens)
        if self.calls is not None and self.calls.closing in content:
            raise AnswerError(f"got {CLOSING} before any {OPENING}")
        by_name = {tool.name: tool for tool in tools}
        calls = [read_call(body, by_name) for body in self._bodies(tokens[len(content) :])]
        return Answer(self.decode(content).strip(), tuple(calls))

    def _bodies(self, tokens: list[int]) -> list[str]:
        """The text of each call."""
        bodies = []
        while tokens:
            assert self.calls is not None
            if self.calls.closing not in tokens:
                raise AnswerError(f"got {OPENING} without {CLOSING}")
            close = tokens.index(self.calls.closing)
            inside, tokens = tokens[1:close], tokens[close + 1 :]
            if self.calls.opening in inside:
                raise AnswerError(f"got {OPENING} inside a call")
            bodies.append(self.decode(inside))
            gap = self.words(tokens)
            if self.calls.closing in gap:
                raise AnswerError(f"got {CLOSING} behind a call")
            if self.decode(gap).strip():
                raise AnswerError("got text behind a call")
            tokens = tokens[len(gap) :]
        return bodies

    def _filled(self, turns: Sequence[Turn], tools: Sequence[Tool], answer: bool) -> str:
        if tools and self.calls is None:
            raise ValueError("tools: got some, and this checkpoint's chat template takes none")
        unknown = [turn.role for turn in turns if turn.role not in ROLES]
        if unknown:
            raise ValueError(f"role: got {unknown[0]!r}, expected one of {ROLES}")
        # No template takes an empty dialogue, but a prefix may be continued without a dialogue.
        turns = turns or (Turn("user"),)
        declared = [tool.declared for tool in tools]
        try:
            return str(
                self._tokenizer.apply_chat_template(
                    [self._broken(_message(turn)) for turn in turns],
                    tools=self._broken(declared) or None,
                    add_generation_prompt=answer,
                    tokenize=False,
                    enable_thinking=False,
                )
            )
        except Exception as error:
            # The template is a program that comes with the checkpoint: it may raise any error.
            raise ValueError(f"chat template: {error}") from error

    def _broken(self, value: Any) -> Any:
        """A value with the special tokens in all its strings broken up."""
        if isinstance(value, str):
            clean = value.replace(BREAK, "")
            return self._special.sub(lambda found: found[0][:1] + BREAK + found[0][1:], clean)
        if isinstance(value, Mapping):
            return {self._broken(key): self._broken(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._broken(inner) for inner in value]
        return value

    def _encode(self, text: str) -> list[int]:
        pieces = [piece for piece in text.split(BREAK) if piece]
        return [
            token
            for piece in pieces
            for token in self._backend.encode(piece, add_special_tokens=False).ids
        ]

    def _find_end(self) -> int:
        """The special token that the template writes after an assistant's message."""
        turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": _PROBE}]
        text = self._tokenizer.apply_chat_template(turns, tokenize=False)
        found = self._special.search(str(text).rpartition(_PROBE)[2])
        if found is not None:
            return int(self._added[found[0]])
        if self._tokenizer.eos_token_id is None:
            raise ValueError("chat_template: got nothing that ends a message, and no eos_token")
        return int(self._tokenizer.eos_token_id)


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": c.name, "arguments": dict(c.arguments)}}
            for c in turn.calls
        ]
    return message


def read_call(body: str, tools: Mapping[str, Tool]) -> Call:
    """Read one call of the given tools; ``arguments`` may also be the JSON text of an object.

    Raises:
        AnswerError: The call is not an object with ``name`` and ``arguments``, its tool or a
            parameter is unknown, a required parameter is missing, or a value does not fit its
            schema.
    """
    call = _object(body, "call")
    if call.keys() != {"name", "arguments"}:
        raise AnswerError(f"call: got {sorted(call)}, expected name and arguments")
    name, given = call["name"], call["arguments"]
    if not isinstance(name, str) or name not in tools:
        raise AnswerError(f"tool: got {name!r}, expected one of {sorted(tools)}")
    if isinstance(given, str):
        given = _object(given, name)
    if not isinstance(given, dict):
        raise AnswerError(f"{name}: got arguments {given!r}, expected an object")
    tool = tools[name]
    arguments = {key: _value(tool, key, value) for key, value in given.items()}
    missing = sorted(tool.required - arguments.keys())
    if missing:
        raise AnswerError(f"{name}: missing {missing}")
    return Call(name, {**arguments, **{key: None for key in tool.nulled - arguments.keys()}})


def _object(text: str, what: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(f"{what}: got a key twice")
        return dict(pairs)

    try:
        read = json.loads(text, object_pairs_hook=once)
    except ValueError as error:
        raise AnswerError(f"{what}: {error}") from error
    if not isinstance(read, dict):
        raise AnswerError(f"{what}: got {type(read).__name__}, expected an object")
    return read


def _value(tool: Tool, key: str, value: Any) -> Any:
    if key not in tool.properties:
        raise AnswerError(f"{tool.name}: got unknown parameter {key!r}")
    if value is None and admits_null(tool.parameters["properties"][key]):
        return None
    schema = tool.properties[key]
    if is_words(schema) and not options(schema) and not isinstance(value, str):
        raise AnswerError(f"{tool.name}.{key}: got {value!r}, expected a string")
    try:
        return read_value(written(value), schema)
    except ValueError as error:
        raise AnswerError(f"{tool.name}.{key}: {error}") from error
