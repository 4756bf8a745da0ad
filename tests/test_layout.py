"""The house as docs/architecture.md draws it: rooms that the tree shows, imported one way."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("kernels", "dlm", "voice")
# A reader must see a package at a glance.
MOST_LOOSE = 12
LONGEST_FUNCTION = 50

# What the engine runs on where nothing else is installed, at import and inside functions.
ENGINE_IMPORTS = {"torch", "numpy", "tokenizers", "transformers", "safetensors"}
ENGINE_LAZY_IMPORTS = ENGINE_IMPORTS | {
    "triton",
    "llguidance",
    "huggingface_hub",
    "gguf",
    "onnxruntime",
}
# The engine's own server.
SERVING = ("dlm.server", "dlm.serve")
# Programs for the command line draw with rich and matplotlib, ask servers with httpx and mcp, and
# read other people's files; all imported when used.
PROGRAM_LAZY_IMPORTS = {"openai", "rich", "httpx", "matplotlib", "mcp", "pydantic", "yaml"}
PROGRAMS = (
    "dlm.chat",
    "dlm.bench",
    "dlm.train.curves",
    "dlm.train.reporting",
    "dlm.evaluate.report",
    "dlm.teach",
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


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """Every module that a file imports, also for types alone, and whether at import time."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lazy = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node not in lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written from the top"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full if full in MODULES else str(node.module)), node not in lazy


def room(module: str) -> str:
    """The folder below the package that a module lies in; a loose module is its own room."""
    return ".".join(module.split(".")[:2])


def circle(place: Callable[[str], str]) -> list[str]:
    """The places of one circle of imports between different places; empty where there is none."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        known = {place(name) for name, _ in imports(path) if name in MODULES}
        graph.setdefault(place(module), set()).update(known - {place(module)})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_imports_in_a_circle() -> None:
    assert circle(lambda module: module) == []


def test_rooms_are_imported_one_way() -> None:
    assert circle(room) == []
    # So are the rooms within a room.
    assert circle(lambda module: ".".join(module.split(".")[:3])) == []


def test_packages_are_imported_one_way() -> None:
    for module, path in MODULES.items():
        package = module.split(".")[0]
        above = PACKAGES[PACKAGES.index(package) + 1 :]
        for imported, _ in imports(path):
            assert imported.split(".")[0] not in (*above, "tests", "benchmarks"), module


@pytest.mark.parametrize("package", PACKAGES[1:])
def test_a_package_shows_its_rooms(package: str) -> None:
    loose = [path.stem for path in (ROOT / package).glob("*.py") if path.stem != "__init__"]
    assert len(loose) <= MOST_LOOSE, loose


def test_functions_are_short() -> None:
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                told = len((ast.get_docstring(node) or "").splitlines())
                lines = (node.end_lineno or 0) - node.lineno + 1 - told
                assert lines <= LONGEST_FUNCTION, f"{path}: {node.name} has {lines} lines"


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


def test_every_room_stands_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = set(re.findall(r"\*\*`([\w./]+)`\*\*", text.partition("\n## Rooms\n")[2]))
    rooms = {room(module) for module in MODULES if not module.startswith("kernels")}
    for name in rooms - set(PACKAGES):
        path = name.replace(".", "/")
        expected = {f"{path}/", f"{path}.py"}
        assert told & expected, f"{name}: not in docs/architecture.md under Rooms"


def test_packages_of_tests_are_packages() -> None:
    # Two files of one name, one in asr/ and one in tts/, need it.
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
