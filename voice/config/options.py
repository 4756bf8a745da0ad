"""Groups of options, read from a TOML file and from overrides; strict about names and values.

Every mistake becomes a `ConfigError` that names the file and the key (or ``--set``, or an option of
the command line's own), what was got and what is expected. The options themselves are in
`voice.config`.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import ErrorDetails

from voice.errors import ConfigError


class Section(BaseModel):
    """Base of all option groups: frozen, and strict about names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        # A device may be named by its number, and `--set` reads a number where it sees one.
        coerce_numbers_to_str=True,
        # inf as a timeout is refused by asyncio, long after the start.
        allow_inf_nan=False,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _check_truth(cls, value: object, info: ValidationInfo) -> object:
        # To pydantic the text "no" is false, and the number 1 is true.
        truth = cls.model_fields[info.field_name or ""].annotation is bool
        if truth and not isinstance(value, bool):
            raise ValueError(f"got {value!r}; expected true or false, without quotes")
        return value


class AgentSection(Section):
    """Base of what an agent's file holds, where a number is no text."""

    model_config = ConfigDict(coerce_numbers_to_str=False)


def _check_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    for network in networks:
        try:
            ip_network(network)
        except ValueError as error:
            raise ValueError(f"got {network!r}; expected an address or a network") from error
    return networks


def _check_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        try:
            urlsplit(origin)
        except ValueError as error:
            raise ValueError(f"got {origin!r}; expected an origin: {error}") from error
    return origins


def check_url(url: str) -> str:
    """A server's address, as it is; may be empty.

    Raises:
        ValueError: It is not one that begins with http:// or https://.
    """
    try:
        parts = urlsplit(url)
        # A port out of range raises when it is read.
        readable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        readable = False
    if url and not readable:
        # A password may stand before the host.
        shown = url.rpartition("@")[2]
        raise ValueError(f"got {shown!r}; expected an origin such as https://voice.example.com")
    return url


def _check_ice_servers(urls: tuple[str, ...]) -> tuple[str, ...]:
    for url in urls:
        if not re.fullmatch(r"(stun|turns?):[\w.-]+(:\d{1,5})?(\?transport=(udp|tcp))?", url):
            raise ValueError(f"got {url!r}; expected such as stun:host:3478 or turn:host:3478")
    return urls


IceServers = Annotated[tuple[str, ...], AfterValidator(_check_ice_servers)]
"""STUN and TURN servers, as RFC 7064 and RFC 7065 write them."""

Networks = Annotated[tuple[str, ...], AfterValidator(_check_networks)]
"""Addresses and networks, as `ipaddress` reads them."""

Origins = Annotated[tuple[str, ...], AfterValidator(_check_origins)]
"""Origins of web pages, such as https://example.com."""

Url = Annotated[str, AfterValidator(check_url)]
"""Where a server is, such as https://voice.example.com; may be empty."""

S = TypeVar("S", bound=Section)

_EXPECTED = {
    "string_type": "a text",
    "tuple_type": "a list",
    "dict_type": "a section",
    "model_type": "a section",
    "finite_number": "a finite number",
}
"""Pydantic's error types whose own words speak of Python rather than TOML."""


def find_file(name_or_path: str | Path, directory: Path, option: str = "") -> Path:
    """The file meant by a path that ends in .toml, or by the bare name of one in a directory.

    Args:
        option: What was given, for errors, such as ``--config``.

    Raises:
        ConfigError: There is no such file, where the text lists the names that there are; or it is
            not allowed to look.
    """
    where = f"{option}: " if option else ""
    try:
        return _find_file(Path(name_or_path), directory, where)
    except OSError as error:
        raise ConfigError(f"{where}{name_or_path}: cannot be read: {error.strerror}") from error


def _find_file(given: Path, directory: Path, where: str) -> Path:
    if given.suffix == ".toml":
        if given.is_file():
            return given
        raise ConfigError(f"{where}{given}: no such configuration file")
    if not directory.is_dir():
        raise ConfigError(
            f"{directory}: no such directory; expected a checkout of the project, or the path of"
            f" a .toml file in place of {str(given)!r}"
        )
    file = directory / f"{given}.toml"
    if file.is_file():
        return file
    known = sorted(path.stem for path in directory.glob("*.toml"))
    close = difflib.get_close_matches(str(given), known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ConfigError(
        f"{where}{given}: got an unknown name; expected the path of a .toml file, or one of"
        f" {known}{hint}"
    )


def listed(given: object) -> object:
    """A text alone as a list of one, for options that may be either."""
    return [given] if isinstance(given, str) else given


def read_options(
    model: type[S],
    file: Path,
    overrides: Iterable[str] = (),
    given: Mapping[str, tuple[str, object]] = MappingProxyType({}),
) -> S:
    """Read a TOML file into an option group.

    Args:
        model: The group at the top of the file.
        file: An existing file.
        overrides: Each ``dotted.key=value``, applied over the file; the value is read as TOML, or
            else as a string.
        given: What the user typed, such as ``--port`` → its dotted key and its value, which is
            taken as it is and applied last.

    Raises:
        ConfigError: The file or an override is malformed, a key is unknown, or a value is wrong.
    """
    tree = _read_toml(file)
    overridden = {_apply(tree, override): "--set" for override in overrides}
    for name, (key, value) in given.items():
        _put(tree, key, value)
        overridden[key] = name
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        problems = [_explain(model, problem, file, overridden) for problem in error.errors()]
        raise ConfigError("\n".join(problems)) from error


def with_overrides(options: S, overrides: Iterable[str], where: str) -> S:
    """Options with some of them overridden.

    Args:
        options: As they are.
        overrides: Each ``dotted.key=value``.
        where: What they are written under, for errors.

    Raises:
        ConfigError: As `read_options`.
    """
    tree = options.model_dump()
    overridden = {key: f"{where}: {key}" for key in (_apply(tree, one) for one in overrides)}
    try:
        return type(options).model_validate(tree)
    except ValidationError as error:
        found = error.errors()
        problems = [_explain(type(options), one, Path(where), overridden) for one in found]
        raise ConfigError("\n".join(problems)) from error


def key_of(override: str) -> str:
    """The dotted key that a ``dotted.key=value`` overrides."""
    return override.partition("=")[0].strip()


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _apply(tree: dict[str, Any], override: str) -> str:
    """Put an override into the tree; returns its key."""
    key, equals, text = (part.strip() for part in override.partition("="))
    if not equals or not all(key.split(".")):
        raise ConfigError(f"--set: got {override!r}; expected section.key=value")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    _put(tree, key, value)
    return key


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    *parents, leaf = key.split(".")
    node = tree
    for name in parents:
        node = node.setdefault(name, {})
        if not isinstance(node, dict):
            raise ConfigError(f"--set: {key}: {name} is a value, not a section")
    node[leaf] = value


def _explain(
    model: type[Section], problem: ErrorDetails, file: Path, overridden: Mapping[str, str]
) -> str:
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path)
    where = f"{file}: {key}"
    for name, typed in overridden.items():
        # A section that there is not is unknown as a whole.
        section = problem["type"] == "extra_forbidden" and name.startswith(f"{key}.")
        if section or f"{key}.".startswith(f"{name}."):
            where = f"--set: {key}" if typed == "--set" else typed
    kind, message = problem["type"], problem["msg"]
    if kind == "extra_forbidden":
        names = _names_at(model, path[:-1])
        close = difflib.get_close_matches(path[-1], names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"expected one of {sorted(names)}"
        return f"{where}: unknown key; {hint}"
    if kind == "value_error":
        return f"{where}: {problem['ctx']['error']}"
    if kind == "missing":
        wanted = _type_at(model, path)
        what = {str: "a text", tuple: "a list"}.get(get_origin(wanted) or wanted, "a value")
        return f"{where}: got nothing; expected {what}"
    expected = _EXPECTED.get(kind) or message.removeprefix("Input should be ")
    return f"{where}: got {problem['input']!r}; expected {expected}"


def _names_at(model: type[Section], path: list[str]) -> list[str]:
    inner = _type_at(model, path)
    return list(inner.model_fields) if _is_section(inner) else []


def _type_at(model: type[Section], path: list[str]) -> Any:
    """The type of the option at a path; None if there is none."""
    inner: Any = model
    for name in path:
        if get_origin(inner) is dict:
            inner = get_args(inner)[1]
        elif get_origin(inner) is tuple:
            inner = get_args(inner)[0]
        elif _is_section(inner) and name in inner.model_fields:
            inner = inner.model_fields[name].annotation
        else:
            return None
    return inner


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)
