from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import Field

from voice.config.options import Section, find_file, read_options
from voice.errors import ConfigError


class Oven(Section):
    heat_c: float = Field(default=180.0, ge=0, le=300)
    mode: str = "fan"


class Kitchen(Section):
    name: str
    lit: bool = True
    oven: Oven = Oven()
    pans: tuple[str, ...] = ()
    spices: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    spare: dict[str, Oven] = Field(default_factory=dict)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kitchen.toml"
    path.write_text('name = "north"\n[oven]\nheat_c = 200\n')
    return path


def test_the_file_is_read_over_the_defaults(file: Path) -> None:
    assert read_options(Kitchen, file) == Kitchen(name="north", oven=Oven(heat_c=200))


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("oven.heat_c=90", Oven(heat_c=90)),
        ("oven.mode=grill", Oven(heat_c=200, mode="grill")),
        ('oven.mode="2"', Oven(heat_c=200, mode="2")),
        ("oven.mode=2", Oven(heat_c=200, mode="2")),
        ("oven.mode=a=b", Oven(heat_c=200, mode="a=b")),
        ("oven.mode=", Oven(heat_c=200, mode="")),
        (" oven.mode = grill ", Oven(heat_c=200, mode="grill")),
    ],
)
def test_an_override_goes_over_the_file(file: Path, override: str, expected: Oven) -> None:
    assert read_options(Kitchen, file, [override]).oven == expected


def test_overrides_are_read_as_toml_and_the_last_one_counts(file: Path) -> None:
    kitchen = read_options(
        Kitchen, file, ['pans=["iron", "steel"]', "lit=true", "lit=false", 'spices.hot=["chili"]']
    )
    assert kitchen.pans == ("iron", "steel")
    assert kitchen.lit is False
    assert kitchen.spices == {"hot": ("chili",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nme = 'x'", "FILE: name: got nothing; expected a text\nFILE: nme: unknown key; did you"),
        ("name = 'x'\n[oven]\nheet_c = 3", "FILE: oven.heet_c: unknown key; did you mean 'heat_c'"),
        (
            "name = 'x'\n[oven]\nzzz = 3",
            "oven.zzz: unknown key; expected one of ['heat_c', 'mo",
        ),
        (
            "name = 'x'\n[spare.old]\nheet_c = 3",
            "spare.old.heet_c: unknown key; did you mean 'heat",
        ),
        ("name = 'x'\noven = 3", "FILE: oven: got 3; expected a section"),
        ("name = 'x'\npans = 'iron'", "FILE: pans: got 'iron'; expected a list"),
        ("name = 'x'\nspices = 1", "FILE: spices: got 1; expected a section"),
        ("name = 'x'\n[spices]\nhot = ['a', [1]]", "FILE: spices.hot.1: got [1]; expected a text"),
        (
            "name = 'x'\n[oven]\nheat_c = 301",
            "oven.heat_c: got 301; expected less than or equal",
        ),
        ("name = 'x'\n[oven]\nheat_c = nan", "oven.heat_c: got nan; expected a finite number"),
        ("name = 'x'\n[oven]\nheat_c = inf", "oven.heat_c: got inf; expected a finite number"),
        ("name = 'x'\nlit = 'no'", "FILE: lit: got 'no'; expected true or false"),
        ("name = 'x'\nlit = 1", "FILE: lit: got 1; expected true or false"),
        ("name = ", "FILE: not valid TOML: "),
        ("name = '\xff'", "FILE: not valid TOML: 'utf-8'"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "kitchen.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=re.escape(message.replace("FILE", str(path)))):
        read_options(Kitchen, path)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("oven", "--set: got 'oven'; expected section.key=value"),
        ("=3", "--set: got '=3'; expected section.key=value"),
        ("oven..mode=x", "--set: got 'oven..mode=x'; expected section.key=value"),
        ("name.first=x", "--set: name.first: name is a value, not a section"),
        ("oven.heat_c=hot", "--set: oven.heat_c: got 'hot'; expected a valid number"),
        ("oven.heet_c=3", "--set: oven.heet_c: unknown key; did you mean 'heat_c'?"),
        ("ovne.heat_c=3", "--set: ovne: unknown key; did you mean 'oven'?"),
        ("oven={heat_c = -1}", "--set: oven.heat_c: got -1; expected greater than or equal to 0"),
    ],
)
def test_a_wrong_override_is_explained(file: Path, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        read_options(Kitchen, file, [override])


def test_a_file_is_found_by_path_or_by_bare_name(tmp_path: Path, file: Path) -> None:
    assert find_file(file, tmp_path / "elsewhere") == file
    assert find_file("kitchen", tmp_path) == file


@pytest.mark.parametrize(
    ("name", "directory", "message"),
    [
        ("missing.toml", ".", "missing.toml: no such configuration file"),
        ("kichen", ".", r"kichen: got an unknown name; expected .* one of \['kitchen'\]"),
        ("kitchen", "none", "none: no such directory; expected a checkout of the project"),
    ],
)
def test_a_missing_file_is_explained(file: Path, name: str, directory: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_file(name, file.parent / directory)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ".toml"])
def test_a_name_that_no_file_can_have_is_explained(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"xxx(.toml)?: cannot be read: File name too long"):
        find_file(name, tmp_path)


def test_a_folder_without_permission_is_explained(tmp_path: Path, file: Path) -> None:
    program = (
        "import os, sys, voice.config.options as o, pathlib\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "try: o.find_file(sys.argv[1], pathlib.Path('.'))\n"
        "except o.ConfigError as error: print(error)"
    )
    tmp_path.chmod(0o600)
    try:
        told = subprocess.run(
            [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True
        ).stdout
    finally:
        tmp_path.chmod(0o700)
    assert told == f"{file}: cannot be read: Permission denied\n"


def test_an_option_of_the_command_line_is_named_as_it_was_typed(tmp_path: Path) -> None:
    file = tmp_path / "kitchen.toml"
    file.write_text('name = "west"')
    read = read_options(Kitchen, file, ["name=south"], {"--name": ("name", "true")})
    assert read.name == "true"
    with pytest.raises(ConfigError, match=r"^--heat: got -1; expected"):
        read_options(Kitchen, file, ["oven.heat_c=3"], {"--heat": ("oven.heat_c", -1)})
    with pytest.raises(ConfigError, match=r"^--set: oven\.heat_c: got -1; expected"):
        read_options(Kitchen, file, ["oven.heat_c=-1"], {"--name": ("name", "north")})
