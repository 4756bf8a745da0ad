from __future__ import annotations

import pytest

from voice import errors
from voice.errors import VoiceError, origins


def test_the_tree_in_the_docstring_names_every_error() -> None:
    assert errors.__doc__ is not None
    for subclass in VoiceError.__subclasses__():
        if subclass.__module__ == errors.__name__:
            assert subclass.__name__ in errors.__doc__


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


def test_an_error_that_was_raised_out_of_its_group_is_told_once() -> None:
    with pytest.raises(KeyError) as found:
        try:
            raise ExceptionGroup("", [KeyError()])
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
    assert origins(found.value).count("KeyError\n") == 1
