"""The house as docs/architecture.md draws it: who may import whom, and a test for each module."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("kernels", "dlm", "voice")

# Lower storeys first. Rooms of one storey do not know each other. A new module gets a place here,
# or is called after the one that it belongs to: normalize_dates lives with normalize.
STOREYS: list[dict[str, set[str]]] = [
    {"ground": {"types", "errors", "options", "config", "events", "audio"}},
    {"around": {"store", "metrics", "security"}},
    {
        "ears": {
            "vad",
            "completeness",
            "prosody",
            "turn_end",
            "turn_end_network",
            "backchannel",
            "endpointing",
            "asr",
        },
        "mind": {"dialogue", "grounding", "llm", "tools"},
        "mouth": {"sentences", "normalize", "tts", "playout"},
    },
    {
        "conversation": {
            "turns",
            "reply",
            "replying",
            "waiting",
            "drafting",
            "doubt",
            "idleness",
            "interrupting",
            "speaking",
            "user_turn",
            "conversation",
            "beside",
            "wanted",
        }
    },
    {
        "pipeline": {
            "ahead",
            "dictation",
            "ears",
            "errands",
            "generating",
            "hands",
            "load",
            "marks",
            "mouth",
            "parts",
            "pipeline",
            "synthesis",
        }
    },
    {
        "transports": {"transports", "realtime"},
        "clients": {
            "client",
            "echo",
            "playback",
            "recordings",
            "screen",
            "sound_card",
            "turn_report",
            "virtual_audio",
        },
    },
    {"doors": {"app", "connections", "serve", "local", "demo"}},
]

# What the engine runs on where nothing else is installed, at import and inside functions.
ENGINE_IMPORTS = {"torch", "numpy", "tokenizers", "transformers", "safetensors"}
ENGINE_LAZY_IMPORTS = ENGINE_IMPORTS | {"triton", "llguidance", "huggingface_hub"}
# The engine's own door.
SERVING = ("dlm.server", "dlm.serve")
# Programs for the command line draw with rich and matplotlib and ask servers with httpx, all
# imported when used.
PROGRAM_LAZY_IMPORTS = {"rich", "httpx", "matplotlib"}
PROGRAMS = (
    "dlm.chat",
    "dlm.bench",
    "dlm.train.curves",
    "dlm.train.progress",
    "dlm.evaluate.report",
)


def modules() -> dict[str, Path]:
    """Dotted name → file, for every module of the three packages."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module that a file imports, and whether at import time. Types alone do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lazy = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for inner in ast.walk(node)
    }
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node not in lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written from the top"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full if full in MODULES else str(node.module)), node not in lazy


def place(module: str) -> tuple[int, str]:
    """Storey and room of a module of voice."""
    name = module.split(".")[1]
    for level, rooms in enumerate(STOREYS):
        for room, names in rooms.items():
            if name in names or name.split("_")[0] in names:
                return level, room
    raise AssertionError(f"{module}: give it a place in STOREYS")


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    package = module.split(".")[0]
    above = PACKAGES[PACKAGES.index(package) + 1 :]
    for imported, _ in imports(MODULES[module]):
        assert imported.split(".")[0] not in (*above, "tests", "benchmarks"), imported


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("voice.")])
def test_a_module_of_voice_knows_only_what_is_below(module: str) -> None:
    level, room = place(module)
    for imported, _ in imports(MODULES[module]):
        if imported.startswith("voice."):
            other_level, other_room = place(imported)
            assert other_level < level or other_room == room, f"{module} imports {imported}"


@pytest.mark.parametrize(
    "module", [name for name in MODULES if not name.startswith(("voice", *SERVING))]
)
def test_the_engine_needs_little(module: str) -> None:
    holds_triton = module.startswith("kernels.") and module not in {"kernels.ops"}
    for imported, at_import in imports(MODULES[module]):
        name = imported.split(".")[0]
        if name in PACKAGES or name in sys.stdlib_module_names:
            continue
        allowed = ENGINE_IMPORTS if at_import and not holds_triton else ENGINE_LAZY_IMPORTS
        if module.startswith(PROGRAMS) and not at_import:
            allowed = allowed | PROGRAM_LAZY_IMPORTS
        assert name in allowed, f"{module} imports {imported}{'' if at_import else ' (lazily)'}"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_test(module: str) -> None:
    path = MODULES[module]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name == "__init__.py" and all(isinstance(node, ast.Expr) for node in tree.body):
        return
    parts = path.relative_to(ROOT).parent.parts
    folder = ROOT.joinpath("tests", *(parts[1:] if parts[0] == "voice" else parts))
    stem = path.stem.strip("_")
    named = f"test_{path.parent.name}.py" if stem == "init" else f"test_{stem}.py"
    # A package's own module is tested beside the package's modules, or beside the package.
    places = [folder / named] + ([folder.parent / named] if stem == "init" else [])
    assert any(file.is_file() for file in places), f"{path.relative_to(ROOT)}: no {places[0]}"


def test_every_module_stands_in_the_architecture(repo_root: Path) -> None:
    text = (repo_root / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = text.partition("\n## Modules\n")[2].split("\n`dlm/`:\n")
    voice, (dlm, kernels) = parts[0], parts[1].split("\n`kernels/`:")
    for package, part in (("voice", voice), ("dlm", dlm), ("kernels", kernels)):
        told = re.findall(r"`([\w*]+)/?`", part)
        paths = {p.stem for p in (repo_root / package).iterdir() if p.suffix == ".py" or p.is_dir()}
        for name in sorted(path for path in paths if not path.startswith("_")):
            assert any(fnmatch(name, one) for one in told), f"{package}/{name}: not in the table"


def test_packages_of_tests_are_packages() -> None:
    # Two files of one name, tests/asr/test_auto.py and tests/tts/test_auto.py, need it.
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
