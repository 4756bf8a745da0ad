"""docs/configuration.md, made from the options themselves.

    python -m voice.config.table > docs/configuration.md

The meaning of an option is its docstring in `voice.config`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from voice.config import AgentConfig, Config
from voice.config.agent import TakesOverConfig
from voice.config.answers import AnswerConfig
from voice.config.flow import BranchConfig, KeptConfig, NeedConfig, StepConfig
from voice.config.moments import Moment
from voice.config.options import Section
from voice.config.shop import ShopConfig

_INTRODUCTION = """\
# Configuration

Options are read from a TOML file: `configs/default.toml`, or what `--config` names, which is a path
or the bare name of a file in `configs/` (`--config hub`). A section of this page is a table in the
file: `asr.whisper.beam_size` is `beam_size` under `[asr.whisper]`. An option that the file leaves
out has its default. `--set asr.engine=whisper` changes one option over the file and may be
repeated; its value is read as TOML, or else as text. A path that is not absolute starts at the
folder in which the program is started, wherever the file lies. An unknown key or a wrong value
stops the program with a line that names file, key, what was got and what is expected.

This page is made by `python -m voice.config.table > docs/configuration.md`.
"""

_SECRETS = """\
## Secrets

Secrets are never in a file: these options name the environment variable that holds one.

| variable | option | meaning |
|---|---|---|
"""

_AGENT = """\
## Agents

An agent is a TOML file in `configs/agents/`, or anywhere else: `agent` above names it.

"""

_BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
_TYPES = {
    bool: "true or false", int: "whole number", float: "number", Decimal: "number", str: "text",
}  # fmt: skip


def page() -> str:
    """The whole page, in Markdown."""
    sections = "\n".join([_table(Config, ""), *_sections(Config, "")])
    secrets = "".join(_secret_rows(Config, ""))
    parts: dict[str, type[Section]] = {
        "takes_over.": TakesOverConfig,
        "shop.": ShopConfig,
        "shop.answers.NAME.": AnswerConfig,
        "asides.NAME.": AnswerConfig,
        "kept.": KeptConfig,
        "steps.NAME.": StepConfig,
        "steps.NAME.needs.NAME.": NeedConfig,
        "steps.NAME.branches.": BranchConfig,
        "moments.NAME.": Moment,
    }
    tables = (_table(part, prefix) for prefix, part in parts.items())
    agent = "\n".join([_table(AgentConfig, ""), *tables])
    return f"{_INTRODUCTION}\n{sections}\n{_SECRETS}{secrets}\n{_AGENT}{agent}"


def _sections(model: type[Section], prefix: str) -> Iterator[str]:
    """Heading, meaning and table of each group inside a group, depth first."""
    for name, inner, field in _groups(model):
        yield f"## `{prefix}{name}`\n\n{_meaning(field)}\n\n{_table(inner, f'{prefix}{name}.')}"
        yield from _sections(inner, f"{prefix}{name}.")
    for name, inner in _named(model):
        meaning = " ".join((inner.__doc__ or "").split())
        table = _table(inner, f"{prefix}{name}.NAME.")
        yield f"## `{prefix}{name}.NAME`\n\n{meaning}\n\n{table}"


def _named(model: type[Section]) -> Iterator[tuple[str, type[Section]]]:
    """Options that are groups by names of the user's own."""
    for name, field in model.model_fields.items():
        inner = [*get_args(field.annotation), None][1:2]
        if inner and isinstance(inner[0], type) and issubclass(inner[0], Section):
            yield name, inner[0]


def _groups(model: type[Section]) -> Iterator[tuple[str, type[Section], FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield name, field.annotation, field


def _options(model: type[Section]) -> Iterator[tuple[str, FieldInfo]]:
    groups = {name for name, _, _ in _groups(model)}
    return ((name, field) for name, field in model.model_fields.items() if name not in groups)


def _table(model: type[Section], prefix: str) -> str:
    rows = [
        f"| `{prefix}{name}` | {_type(field)} | {_default(field)} | {_meaning(field)} |\n"
        for name, field in _options(model)
    ]
    return "| option | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _secret_rows(model: type[Section], prefix: str) -> Iterator[str]:
    for name, field in _options(model):
        if name.endswith("_env"):
            yield f"| `{field.default}` | `{prefix}{name}` | {_meaning(field)} |\n"
    for name, inner, _ in _groups(model):
        yield from _secret_rows(inner, f"{prefix}{name}.")


def _type(field: FieldInfo) -> str:
    bounds = [
        f"{sign} {getattr(constraint, name):,}"
        for constraint in field.metadata
        for name, sign in _BOUNDS.items()
        if hasattr(constraint, name)
    ]
    return ", ".join([_type_name(field.annotation), *bounds])


def _type_name(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is tuple:
        return f"list of {_type_name(arguments[0])}"
    if origin is dict:
        return "table" if arguments[1] is Any else f"table of {_type_name(arguments[1])}"
    if issubclass(annotation, Section):
        return "sections"
    return _TYPES[annotation]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split()).replace("|", r"\|")


if __name__ == "__main__":
    print(page(), end="")
