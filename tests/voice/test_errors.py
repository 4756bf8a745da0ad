from __future__ import annotations

import inspect

import pytest

from voice import errors
from voice.errors import ProtocolError, VoiceError, origins


def test_every_error_is_a_voice_error() -> None:
    classes = [
        member
        for _, member in inspect.getmembers(errors, inspect.isclass)
        if member.__module__ == errors.__name__
    ]
    assert {member.__name__ for member in classes} >= {
        "ConfigError",
        "ProtocolError",
        "DeviceError",
        "ModelError",
    }
    assert all(issubclass(member, VoiceError) for member in classes)


def test_the_tree_in_the_docstring_names_every_error() -> None:
    assert errors.__doc__ is not None
    for subclass in VoiceError.__subclasses__():
        if subclass.__module__ == errors.__name__:
            assert subclass.__name__ in errors.__doc__


def test_a_bad_call_is_not_a_voice_error() -> None:
    assert not issubclass(VoiceError, ValueError)


def test_a_protocol_error_carries_code_and_field() -> None:
    with pytest.raises(ProtocolError, match=r"^no such item$") as raised:
        raise ProtocolError("no such item", code="item_not_found", param="item_id")
    assert (raised.value.code, raised.value.param) == ("item_not_found", "item_id")


def test_a_protocol_error_has_a_code_by_default() -> None:
    error = ProtocolError("bad")
    assert (error.code, error.param) == ("invalid_value", None)


def test_the_origins_of_an_error_are_told_without_what_it_quotes() -> None:
    said = "my number"

    def raised() -> None:
        try:
            int(said)
        except ValueError as error:
            raise KeyError(said) from error

    group = ExceptionGroup(said, [OSError(said)])
    with pytest.raises(KeyError) as found:
        raised()
    told = origins(ExceptionGroup(said, [found.value, group]))
    kinds = [line for line in told.splitlines() if line and not line.startswith(" ")]
    assert kinds == ["KeyError", "ValueError", "OSError"]
    assert __file__ in told and "in raised" in told
    assert said not in told
