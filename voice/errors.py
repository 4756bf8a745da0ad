"""The exceptions of the voice agent.

    VoiceError
    ├── ConfigError      a configuration file, override or environment variable is wrong
    ├── ProtocolError    a peer sent something that the protocol does not allow
    ├── DeviceError      a sound device, or a system library that one needs, is missing
    ├── StoreError       what is kept for callers cannot be read or written
    └── ModelError       a model cannot be loaded, or failed while it ran

Bad input from calling code is a plain ``ValueError`` that names what was got and what was expected.
"""

import traceback
from collections.abc import Iterator


class VoiceError(Exception):
    """Base of every error that this package raises on purpose; its text is fit for a user."""


class ConfigError(VoiceError):
    """A configuration value is unknown or wrong; the text names file, key, got and expected."""


class ProtocolError(VoiceError):
    """A peer broke the protocol.

    Args:
        message: What is wrong, in words for the peer's developer.
        code: A short machine-readable code, as in OpenAI's error events.
        param: The field at fault, as a dotted path, if one is.
    """

    def __init__(self, message: str, code: str = "invalid_value", param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.param = param


class DeviceError(VoiceError):
    """A sound device or the system library behind it cannot be used."""


class StoreError(VoiceError):
    """What is kept for callers cannot be read or written; the text is spoken to them.

    Args:
        spoken: What is said to the caller, a plain English sentence.
        passes: Whether the trouble is likely to pass soon by itself.
    """

    def __init__(self, spoken: str, passes: bool = False) -> None:
        super().__init__(spoken)
        self.passes = passes


class ConflictError(StoreError):
    """Another entry, maybe written by another server, already has a value that must be unique."""


class ModelError(VoiceError):
    """A recogniser, language model or voice could not be loaded or failed while running."""


def to_install(extra: str = "") -> str:
    """The command that installs the project again, with an extra.

    Without ``-e`` pip would copy the code to where it finds neither ``configs/`` nor ``web/``.
    """
    return ".venv/bin/pip install -c constraints.txt -e " + (f"'.[{extra}]'" if extra else ".")


def origins(error: BaseException) -> str:
    """The types and tracebacks of an error, of its causes and of all errors in a group.

    Used to log unexpected errors without their text, which may quote the conversation.
    """
    return "\n".join(
        "\n".join((type(one).__name__, *traceback.format_tb(one.__traceback__)))
        for one in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Each error once: one that was raised out of a group has that group as its context."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        waiting.append(one.__cause__ or one.__context__)
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(reversed(one.exceptions))
        else:
            yield one
