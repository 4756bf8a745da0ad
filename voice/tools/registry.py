"""Makes a typed Python function a tool that the model can call.

The name is the function's, the description its docstring's first line, and pydantic makes the JSON
schema from the type hints; ``Annotated[str, Field(description=...)]`` and ``Literal[...]`` work as
usual. Keyword-only parameters are hidden from the model: the toolbox provides them by their type.
This module does not run tools.
"""

from __future__ import annotations

import functools
import inspect
import logging
import re
import traceback
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Never, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    create_model,
)
from pydantic_core import CoreSchema, core_schema

from voice.callers import Owner
from voice.errors import ConfigError
from voice.types import ToolSpec

logger = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__voice_tool__"
_SOME_TIMES = (datetime(2026, 1, 7, 12, tzinfo=UTC), datetime(2026, 1, 7, 23, 30, tzinfo=UTC))
"""Read at both times, "nine" differs from "nine tonight" and from "nine a.m."."""
LONGEST_VALUE = 2000
"""Most characters of a value that is read: the readers' patterns can take quadratic time."""
_JOINT = re.compile(r"^and\s+|(?<![\s,;])[\s,;]+$", re.I)
_BOUNDS = {
    "less_than_equal": "{le:g} at most",
    "less_than": "less than {lt:g} only",
    "greater_than_equal": "{ge:g} at least",
    "greater_than": "more than {gt:g} only",
}
"""pydantic's type of error → what is said of a number out of bounds."""
_BOUNDING = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_KEPT_READINGS = 8192
"""Spans of messages whose readings are cached; a message has about a hundred spans."""


class ToolError(Exception):
    """A tool cannot do its work; the text is spoken, so it is a plain English sentence."""


class Choose(ToolError):
    """Another value is needed for an argument; ``options`` are the values it can have, if known."""

    def __init__(self, question: str, argument: str, options: Sequence[str]) -> None:
        super().__init__(question)
        self.options = {argument: tuple(options)} if options else {}


class Unreadable(ToolError):
    """A spoken value is not a ``kind``, such as "duration"; ``told`` replaces the usual error."""

    def __init__(self, kind: str, value: str, told: str = "") -> None:
        super().__init__(told or f"I could not read the {kind} {value}.")


@dataclass(frozen=True, slots=True)
class Noted:
    """A tool's result, with the values as the tool has understood the user's words.

    Attributes:
        said: The result, as a sentence.
        values: Argument → value, such as "10:00 AM" for "ten". A flow keeps these.
    """

    said: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Readable:
    """Metadata of a type hint: a call whose words ``read`` refuses fails before anything is done.

    A model that copies the user's words copies only words that can be read.

    Attributes:
        read: Takes the words and the time. It raises `Unreadable` for words that are no such value,
            and another `ToolError` for a value that the tool cannot use.
        question: What the user is asked if a required value cannot be read, or a function that
            makes the question from the words; if empty, the tool's own error is spoken.
        hardly: Reads more words than ``read``, and is tried where ``read`` finds nothing in a
            message: a bare number for a length.
        whole: Whether part of a longer phrase with another meaning is no value: "seven" in "seven
            thirty".
        refuses: Whether the tool refuses unreadable words too; if not, only the model is held to
            readable ones.
        free: Whether nearly any words can be read, as for a name; a flow then takes a value only
            from the answer to its question.
        outright: For a free value, reads words that say what they are in any message: "I'm Anna".
        unasked: Like ``outright``, while the value is still unknown: "my knee hurts", but no mere
            remark.
        counts: Whether the value says how many of the tool's thing are meant: the "two" of "two
            teas".
    """

    read: Callable[[str, datetime], object]
    question: str | Callable[[str], str] = ""
    hardly: Callable[[str, datetime], object] | None = None
    whole: bool = True
    refuses: bool = True
    free: bool = False
    outright: Callable[[str, datetime], object] | None = None
    unasked: Callable[[str, datetime], object] | None = None
    counts: bool = False

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The schema of the hint; the words are read after its own checks."""
        return core_schema.with_info_after_validator_function(self._checked, handler(source))

    def _checked(self, said: str, info: ValidationInfo) -> str:
        assert isinstance(info.context, datetime)
        if self.refuses:
            (self.hardly or self.read)(said, info.context)
        return said


@dataclass(frozen=True, slots=True)
class Known:
    """Metadata of a type hint: words that name something that exists, an ordered drink or a device.

    A model that copies the user's words copies only such names, from an earlier message too, if
    there are any.

    Attributes:
        find: Takes the words, and as keyword-only parameters what it searches, which the toolbox
            provides as it does for tools. It raises `ToolError` if nothing has that name.
        question: What the user is asked if nothing has that name.
        binds: Whether a model may copy nothing else.
        names: Accepts words that name a thing of this kind, whether or not it exists; if it does
            not, the user is told so in place of the question. None accepts nothing.
    """

    find: Callable[..., object]
    question: str = ""
    binds: bool = True
    names: Callable[[str], object] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The question before a tool runs whose effect cannot be taken back.

    Attributes:
        question: Makes the question from the call's arguments, empty if nothing has to be asked;
            its keyword-only parameters are provided like those of `Known`.
        plainly: Whether a message asks for the call so plainly that it runs at once, or agrees to
            the question in words of its own. A bare "yes" need not be recognised here.
        always: Whether the question is asked even after a plain message.
    """

    question: Callable[..., str]
    plainly: Callable[[str], bool]
    always: bool = False


@dataclass(frozen=True, slots=True)
class Keeps:
    """What a tool keeps for its callers, so that a caller can have it deleted.

    Attributes:
        what: In the plural: "your ``what``" is named to the caller.
        forget: Deletes all of it that is an owner's; takes the `Owner`, and may block.
    """

    what: str
    forget: Callable[[Owner], object]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    Attributes:
        arguments: Validates the model's arguments.
        provided: Keyword-only parameter → the type by which the toolbox provides it.
        values: Parameter → what its values have to be.
        asked: The question to the user before it runs.
        refuses: See `tool`.
        keeps: What it keeps for callers beside the `Store`, if anything.
    """

    spec: ToolSpec
    function: Callable[..., Any]
    arguments: type[BaseModel]
    provided: Mapping[str, type]
    values: Mapping[str, Readable | Known]
    asked: Asked | None = None
    refuses: Callable[..., None] | None = None
    keeps: Keeps | None = None


@functools.lru_cache(_KEPT_READINGS)
def meaning(read: Callable[[str, datetime], object], said: str) -> object:
    """How a reader reads some words at two fixed times; None if it cannot read them."""
    if len(said) > LONGEST_VALUE:
        return None
    try:
        return tuple(_read_at(read, said, when) for when in _SOME_TIMES)
    except Unreadable:
        return None
    except Exception as error:
        return _let_through(error)


def _let_through(error: Exception) -> str:
    """Log a reader's failure and accept the words: the tool will meet and report the fault."""
    logger.error("a tool's reader failed: %s", type(error).__name__)
    return ""


def _read_at(read: Callable[[str, datetime], object], said: str, when: datetime) -> object:
    try:
        return read(said, when)
    except Unreadable:
        raise
    # A time that has passed was read: the tool tells the user so.
    except ToolError as error:
        return str(error)


def complaint(read: Callable[[str], object], said: str) -> str:
    """Why a reader refuses some words; empty if it reads them."""
    if len(said) > LONGEST_VALUE:
        return "That is too long."
    try:
        read(said)
    except ToolError as error:
        return str(error)
    except Exception as error:
        return _let_through(error)
    return ""


def provided_to(function: Callable[..., Any]) -> dict[str, type]:
    """The keyword-only parameters of a function, and the types by which they are provided.

    Raises:
        ConfigError: The type hints cannot be read.
    """
    parameters = inspect.signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    hints = _hints(function) if names else {}
    return {name: hints[name] for name in names}


def guarded(function: Callable[..., Any], instead: Any) -> Callable[..., Any]:
    """A function of a tool's author that answers ``instead`` where it fails, which is logged.

    Where a text is expected, a `ToolError` answers with its own.
    """

    def ask(*given: Any) -> Any:
        try:
            return function(*given)
        except ToolError as error:
            return (isinstance(instead, str) and str(error)) or instead
        except Exception as error:
            # Not the error's message: it may hold the user's words.
            where = traceback.extract_tb(error.__traceback__)[-1]
            kind = type(error).__name__
            logger.error("a tool's check failed: %s at %s:%s", kind, where.filename, where.lineno)
            return instead

    return ask


def tool(
    *given: Never,
    read_only: bool = False,
    cancellable: bool = False,
    undoes: bool = False,
    ends: bool = False,
    asked: Asked | None = None,
    behind: Collection[str] = (),
    refuses: Callable[..., None] | None = None,
    meant: Callable[[Mapping[str, Any]], str] | None = None,
    asks_next: str = "",
    looks_up: bool = False,
    knows: Collection[str] = (),
    keeps: Keeps | None = None,
) -> Callable[[F], F]:
    """Mark a function as a tool.

    Args:
        read_only: Whether it changes nothing, so that it may run in a draft and be stopped.
        cancellable: Whether it may be cancelled although it changes something; it must then be a
            coroutine function.
        undoes: Whether it takes back what another tool has done. If the answer also calls other
            tools, which may put something in its place, it runs only if all their arguments can be
            read.
        ends: Whether it ends the conversation, so that the user is asked first unless they have
            said goodbye.
        asked: The question to the user before it runs.
        behind: Names of tools: patterns in an agent's file call this tool only if the previous
            message called one of them.
        refuses: Raises the errors of the tool itself, before it runs and before the user is asked
            to confirm. Takes the arguments and the user's message, and as keyword-only parameters
            what the toolbox provides.
        meant: Puts a call's arguments into words, "a large latte", for the question that is asked
            when the call is in doubt. It may raise `ToolError`.
        asks_next: The question that follows its result: "Anything else?".
        looks_up: Whether it is called with a question for which the model calls no tool, as its
            only required value, unless it ``refuses`` that question.
        knows: Words, in the singular, for what it can tell. If it is an agent's tool for questions,
            the model's reply that it does not know a "menu" is not spoken.
        keeps: What it keeps for callers beside the `Store`; deleted with all else that is theirs.

    Raises:
        TypeError: The decorator is written without brackets.
        ValueError: The module has another tool of the function's name.
    """
    if given:
        name = getattr(given[0], "__name__", "a function")
        raise TypeError(f"{name}: got @tool without brackets; write @tool()")
    told: dict[str, Any] = {
        "read_only": read_only,
        "cancellable": cancellable,
        "undoes": undoes,
        "ends": ends,
        "behind": frozenset(behind),
        "meant": meant,
        "asks_next": asks_next,
        "looks_up": looks_up,
        "knows": tuple(knows),
    }

    def mark(function: F) -> F:
        _check_only(function)
        setattr(function, _MARK, (told, asked, refuses, keeps))
        return function

    return mark


def _check_only(function: Callable[..., Any]) -> None:
    """Refuse a second tool of a name in a module, which would replace the first."""
    name = function.__name__
    before = getattr(function, "__globals__", {}).get(name)
    if function.__qualname__ == name and inspect.isfunction(before) and hasattr(before, _MARK):
        # A module that is loaded again has the same function at the same place.
        first, second = (inspect.unwrap(one).__code__ for one in (before, function))
        if (first.co_filename, first.co_firstlineno) != (second.co_filename, second.co_firstlineno):
            where = f"{first.co_filename}, line {first.co_firstlineno}"
            raise ValueError(f"{name}: got a second tool of this name; the first is in {where}")


def tools_in(module: ModuleType) -> list[Tool]:
    """The tools that a module defines itself, in the order of definition.

    Raises:
        ConfigError: A marked function cannot be a tool.
    """
    return [
        as_tool(value)
        for value in vars(module).values()
        if inspect.isfunction(value)
        and hasattr(value, _MARK)
        and value.__module__ == module.__name__
    ]


def as_tool(function: Callable[..., Any]) -> Tool:
    """Make a tool of a function marked with `tool`; unmarked ones count as having side effects.

    Raises:
        ConfigError: A parameter has no type hint, one that JSON has no schema for, or a name that
            begins with "_", or cannot be passed by its name; the docstring is missing; or a
            cancellable function is not a coroutine function.
    """
    name = function.__name__
    hints = _hints(function)
    fields: dict[str, Any] = {}
    provided: dict[str, type] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            got = parameter.replace(annotation=parameter.empty)
            what = f"got parameter {got}, which no call can pass by its name"
            raise ConfigError(f"tool {name}: {what}; expected plain ones and those behind *")
        if parameter.name not in hints:
            raise ConfigError(f"tool {name}: parameter {parameter.name} has no type hint")
        if parameter.kind is parameter.KEYWORD_ONLY:
            provided[parameter.name] = hints[parameter.name]
        elif parameter.name.startswith("_"):
            # pydantic would leave it out of the model, so no call could pass it.
            raise ConfigError(f"tool {name}: got parameter {parameter.name}; expected no leading _")
        else:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
    description = (inspect.getdoc(function) or "").partition("\n")[0]
    if not description:
        raise ConfigError(f"tool {name}: got no docstring; expected one that says what it does")
    arguments, schema = _model(name, fields)
    told, asked, refuses, keeps = getattr(function, _MARK, ({}, None, None, None))
    spec = ToolSpec(name, description, schema, **told)
    if spec.cancellable and not inspect.iscoroutinefunction(function):
        raise ConfigError(f"tool {name}: got cancellable; expected a coroutine function to cancel")
    given = {"asked": (asked and asked.question, 1), "refuses": (refuses, 2)}
    given |= {"asked's plainly": (asked and asked.plainly, 1), "meant": (spec.meant, 1)}
    given |= {"keeps": (keeps and keeps.forget, 1)}
    values = {name: found for name in fields if (found := _value(hints[name]))}
    given |= {f"{at}'s find": (v.find, 1) for at, v in values.items() if isinstance(v, Known)}
    for what, (called, count) in given.items():
        _check_takes(name, what, called, count)
    return Tool(spec, function, arguments, provided, values, asked, refuses, keeps)


def _check_takes(name: str, what: str, called: Callable[..., Any] | None, count: int) -> None:
    """Refuse a tool's function that cannot take ``count`` arguments, before its first call."""
    try:
        taken = inspect.signature(called).parameters.values() if called else None
    except ValueError:  # some built-in functions have no signature
        taken = None
    if taken is None:
        return
    places = [one for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    for one in taken:
        if one.kind is one.KEYWORD_ONLY and one.annotation is one.empty:
            raise ConfigError(
                f"tool {name}: {what}: parameter {one.name} has no type hint, by which it would be"
                f" provided; expected one, such as {one.name}: SessionScope (in no lambda)"
            )
    needed = sum(one.default is one.empty for one in places)
    any_number = any(one.kind is one.VAR_POSITIONAL for one in taken)
    if needed > count or not (any_number or count <= len(places)):
        raise ConfigError(
            f"tool {name}: {what}: got a function of {len(places)} arguments; expected {count}, and"
            " what is provided behind *"
        )


def _value(hint: Any) -> Readable | Known | None:
    """The `Readable` or `Known` of a type hint, if it has one."""
    found = (one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Readable | Known))
    return next(found, None)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    # A hint in quotes is code, which may raise anything.
    except Exception as error:
        name = getattr(function, "__name__", function)
        raise ConfigError(
            f"tool {name}: cannot read the type hints: {_first_line(error)}"
        ) from error


def _model(name: str, fields: Mapping[str, Any]) -> tuple[type[BaseModel], dict[str, Any]]:
    """The pydantic model of the arguments, and their JSON schema."""
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
    try:
        model = create_model(name, __config__=config, **fields)
        return model, _schema(model)
    # pydantic has no common error for types; a class may bring its own schema, and its errors.
    except Exception as error:
        if len(fields) > 1:
            # This tells which one it is.
            for key, field in fields.items():
                _model(name, {key: field})
        got = ", ".join(f"{key}: {inspect.formatannotation(fields[key][0])}" for key in fields)
        raise ConfigError(
            f"tool {name}: got {got}, which cannot be described to a model; expected a type that"
            " JSON has, such as str, or, for what the program provides, a place behind *:"
            f" {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def check_lengths(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raise a `ToolError` if a value that is to be read is too long for readers."""
    for name in tool.values:
        if len(str(arguments.get(name, ""))) > LONGEST_VALUE:
            raise ToolError(f"The {name.replace('_', ' ')} is too long.")


def checked(tool: Tool, arguments: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The arguments as the function takes them; a null or an empty string counts as left out.

    Raises:
        ToolError: One is missing, unknown, of the wrong type, too long or unreadable.
    """
    check_lengths(tool, arguments)
    said = {key: _without_joint(value) for key, value in arguments.items()}
    said = {key: value for key, value in said.items() if value not in (None, "")}
    try:
        model = tool.arguments.model_validate(said, context=now)
    except ValidationError as error:
        raise ToolError(_complaint(tool.spec.name, error)) from error
    return {key: getattr(model, key) for key in model.model_fields_set}


def _without_joint(value: Any) -> Any:
    """A span of "eggs, wine and tofu" may begin with the "and" or end with the comma."""
    return _JOINT.sub("", value) if isinstance(value, str) else value


def _complaint(name: str, error: ValidationError) -> str:
    problem = error.errors()[0]
    parameter = str(problem["loc"][0]).replace("_", " ") if problem["loc"] else "request"
    if problem["type"] == "missing":
        return f"The {parameter} is missing."
    if problem["type"] == "extra_forbidden":
        return f"The {name.replace('_', ' ')} tool takes no {parameter}."
    for kind, bound in _BOUNDS.items():
        if problem["type"] == kind:
            return (
                f"The {parameter} can be {bound.format(**problem['ctx'])}, not {problem['input']}."
            )
    return f"I could not read the {parameter} {problem['input']}."


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema without titles and defaults, which cost a small model tokens.

    The bounds of numbers are left out as well: a model that must not write the twelve that the user
    said would write another number, and the user should hear that nine is the most.
    """
    full = _unbounded(arguments.model_json_schema())
    properties = {
        name: {key: value for key, value in field.items() if key not in ("title", "default")}
        for name, field in full.get("properties", {}).items()
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(full.get("required", [])),
    }
    if "$defs" in full:
        schema["$defs"] = full["$defs"]
    return schema


def _unbounded(node: Any) -> Any:
    """A schema without the bounds of its numbers."""
    if isinstance(node, list):
        return [_unbounded(one) for one in node]
    if not isinstance(node, dict):
        return node
    # A parameter may have the name of a bound.
    bounds = {key for key in _BOUNDING if isinstance(node.get(key), int | float)}
    return {key: _unbounded(value) for key, value in node.items() if key not in bounds}
