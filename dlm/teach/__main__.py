"""``python -m dlm.teach SOURCE --out DIR``: teach the small model the tools of a list.

SOURCE is an OpenAPI file, a JSON list of tools, a Python file of functions, or the URL of an MCP
server (``--mcp COMMAND`` starts one). The folder holds the checkpoint, the agent's file, scenarios
for ``python -m voice.prove``, and a report. Ctrl-C saves; the same command goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from dlm.command_line import number, told
from dlm.datagen.dialogues import generate
from dlm.datagen.examples import line_of
from dlm.datagen.values.slots import Values
from dlm.engine.engine import SHIPPED, Engine
from dlm.evaluate.cases import cases
from dlm.evaluate.run import ask_engine
from dlm.evaluate.scores import score
from dlm.language.identifiers import words
from dlm.teach import folder, sentences, sources
from dlm.teach.dialogues import Writer
from dlm.teach.learnable import faults, remarks, untold
from dlm.teach.listed import Listed
from dlm.teach.requests import Asking, phrasing_of
from dlm.train.__main__ import main as train
from dlm.train.__main__ import settings
from dlm.train.export import SHARD_MIB, export

DIALOGUES = 3000
EXAMPLES_SHARE = 0.2
"""Share of the dialogues that are a user's own sentences, word for word."""
PHRASINGS = 60
"""Number of held-out requests from the generator."""
SHIPPED_DIALOGUES = 40
"""Number of held-out dialogues about tools that the model knew before."""
HELD_OUT_EVERY = 4
"""One in so many of a tool's examples is held out."""
SEED = 7
STEPS = 1200
OTHER_MINUTES = 3.0
"""Upper limit of the time that everything except training takes."""
STAGES = (
    "reading the tools", "writing dialogues", "measuring before", "training", "measuring after",
    "writing the folder",
)  # fmt: skip


@dataclass(frozen=True)
class Lesson:
    """A list of tools to teach; each part is made once and, after a stop, read again.

    Attributes:
        out: The folder that everything is written to.
        tools: The tools of the list.
        examples: A user's own sentences.
    """

    out: Path
    name: str
    tools: tuple[Listed, ...]
    examples: tuple[sentences.Sentence, ...]
    corpora: Path | None

    @property
    def instructions(self) -> str:
        """The agent's instructions."""
        return (
            f"You are a voice assistant for {words(self.name)}. Use a tool when one fits. Say only"
            " what the tools or the user said."
        )

    @cached_property
    def parted(self) -> tuple[list[sentences.Sentence], list[sentences.Sentence]]:
        """The examples to learn, and those held out, taken from every tool."""
        parts: tuple[list[sentences.Sentence], list[sentences.Sentence]] = ([], [])
        seen: dict[str, int] = {}
        for sentence in self.examples:
            name = ",".join(call["name"] for call in sentence.get("calls", ()))
            seen[name] = seen.get(name, 0) + 1
            parts[seen[name] % HELD_OUT_EVERY == 0].append(sentence)
        return parts

    @cached_property
    def askings(self) -> tuple[Asking, ...]:
        """The tools as people ask for them."""
        known = {tool.name: tool.properties for tool in self.tools}
        own: dict[str, list[str]] = {name: [] for name in known}
        values: dict[str, dict[str, list[str]]] = {name: {} for name in known}
        for sentence in self.parted[0]:
            calls = sentence.get("calls", ())
            for call in calls:
                for key, value in call.get("arguments", {}).items():
                    if isinstance(value, str):
                        values[call["name"]].setdefault(key, []).append(value)
            if len(calls) == 1:
                (call,) = calls
                text = phrasing_of(sentence["say"], call.get("arguments", {}))
                own[call["name"]] += [text] if text else []
        return tuple(Asking.of(one, own[one.name], values[one.name]) for one in self.tools)

    def writer(self, split: str) -> Writer:
        """A writer of dialogues for a split; held-out dialogues do not use examples' phrasings."""
        train = split == "train"
        askings = self.askings if train else [replace(one, own=()) for one in self.askings]
        return Writer.of(askings, self.instructions, split, Values(self.corpora, free=train))

    def write_dialogues(self) -> None:
        """Write the dialogues to learn from and the sentences that are held out."""
        made = list(itertools.islice(self.writer("train").dialogues(SEED), DIALOGUES))
        own = [sentences.dialogue(s, self.tools, self.instructions) for s in self.parted[0]]
        others = 1 / EXAMPLES_SHARE - 1
        made += own * max(1, round(DIALOGUES / others / max(1, len(own))))
        lines = "".join(json.dumps(line_of(row)) + "\n" for row in made)
        held = itertools.islice(self.writer("heldout").dialogues(SEED), PHRASINGS)
        found = [
            {"say": m[0]["content"], "calls": m[1]["tool_calls"]}
            for m in (r["messages"] for r in held)
        ]
        self.keep("held-out.json", {"examples": list(self.parted[1]), "phrasings": found})
        written(self.out / "dialogues.jsonl", lines)

    def measure(self, checkpoint: Path) -> dict[str, Any]:
        """Measure a checkpoint: its figures, and its wrong answers about the list's tools."""
        figures: dict[str, Any] = {}
        failures: list[Any] = []
        threads = torch.get_num_threads()
        engine = Engine.load(checkpoint)
        try:
            for part, some in self.kept("held-out.json").items():
                told = sentences.measure(engine, some, self.tools, self.instructions)
                figures[part], wrong = told
                failures += wrong
            rows = itertools.islice(generate(SEED, self.corpora, "heldout"), SHIPPED_DIALOGUES)
            scores = score(cases(rows), ask_engine(engine))
            figures["shipped"] = {
                "exact": [round(scores.share("call"), 4), scores.counts["call"][1]]
            }
        finally:
            engine.close()
            # An engine limits torch's threads in the whole process; training wants all cores.
            torch.set_num_threads(threads)
        return {"figures": figures, "failures": failures}

    def keep(self, name: str, value: Any) -> None:
        """Write a part of the lesson."""
        written(self.out / name, json.dumps(value, indent=1, ensure_ascii=False) + "\n")

    def kept(self, name: str) -> Any:
        """Read a part that was written."""
        return json.loads((self.out / name).read_text(encoding="utf-8"))


def written(file: Path, text: str) -> None:
    """Write a file atomically, so that one found after a kill is complete.

    An existing file is kept, as the user may have changed it.
    """
    if file.exists():
        return
    part = file.with_name(f"{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def training_minutes(minutes: float) -> float:
    """How many of these minutes training gets."""
    return max(0.2 * minutes, minutes - OTHER_MINUTES)


class Progress:
    """Prints which stage has begun, and about how many minutes are left."""

    def __init__(self, minutes: float) -> None:
        self._began = time.monotonic()
        self._minutes = minutes
        self._stage = 0

    @property
    def minutes(self) -> float:
        """Minutes since the start."""
        return (time.monotonic() - self._began) / 60

    def stage(self) -> None:
        """Announce that the next stage begins."""
        rest = OTHER_MINUTES * (1 - self._stage / len(STAGES))
        is_ahead = self._stage <= STAGES.index("training")
        training = training_minutes(self._minutes) if is_ahead else 0.0
        stage = f"[{self._stage + 1} of {len(STAGES)}] {STAGES[self._stage]}"
        print(f"{stage}; about {rest + training:.0f} min left in all", flush=True)
        self._stage += 1


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and teach.

    Raises:
        SystemExit: 2 if the list cannot be read or learned; 128 plus the signal's number if a
            signal stopped the run; 1 if a conversation failed under ``--prove``.
    """
    words_given = sys.argv[1:] if arguments is None else arguments
    parser = _parser()
    options = parser.parse_args(words_given)
    if not options.source and not options.mcp:
        parser.error("expected a file, a URL or --mcp COMMAND")
    with told(parser):
        try:
            teach(options)
        except (SystemExit, KeyboardInterrupt) as stop:
            code = stop.code if isinstance(stop, SystemExit) else 130
            if code:
                print(f"go on with: python -m dlm.teach {shlex.join(words_given)}", flush=True)
            raise SystemExit(code) from None


def teach(options: argparse.Namespace) -> None:
    """Teach a list of tools; parts that an earlier run has made are not made again.

    Raises:
        ValueError: The list cannot be read or learned.
        OSError: A file cannot be read or written.
    """
    settings(options.init, options.corpora, _changes(options))
    progress = Progress(options.minutes)
    progress.stage()
    lesson = _lesson(options)
    wrong = faults(lesson.askings)
    if wrong:
        raise sources.ListError(
            "this list cannot be learned as it is:\n" + "\n".join(f"- {w}" for w in wrong)
        )
    notes = [*remarks(lesson.tools), *untold(lesson.writer("train"))]
    print(
        "\n".join(
            [f"{len(lesson.tools)} tools: {', '.join(t.name for t in lesson.tools)}", *notes]
        ),
        flush=True,
    )
    lesson.out.mkdir(parents=True, exist_ok=True)
    lesson.keep("tools.json", [tool.spec for tool in lesson.tools])
    if lesson.kept("tools.json") != json.loads(json.dumps([tool.spec for tool in lesson.tools])):
        raise sources.ListError(f"{lesson.out} is of another list: expected another --out")

    def once(name: str, make: Callable[[], object]) -> None:
        progress.stage()
        if not (lesson.out / name).exists():
            make()

    once("dialogues.jsonl", lesson.write_dialogues)
    once("before.json", lambda: lesson.keep("before.json", lesson.measure(options.init)))
    once("checkpoint", lambda: _train(lesson, options))
    once("after.json", lambda: lesson.keep("after.json", lesson.measure(lesson.out / "checkpoint")))
    progress.stage()
    _write_folder(lesson, options)
    if not (lesson.out / "report.md").exists():
        _report(lesson, notes, progress.minutes)
    print((lesson.out / "report.md").read_text(encoding="utf-8"), flush=True)
    if options.prove:
        _prove(lesson.out)


def _lesson(options: argparse.Namespace) -> Lesson:
    source = options.source or ""
    found = sources.chosen(
        sources.read(source, options.mcp), _names(options.only), _names(options.without)
    )
    name = options.name or re.sub(r"\W+", "-", Path(source).stem or options.out.name).strip("-")
    examples = sentences.read(options.examples, found) if options.examples else []
    return Lesson(options.out, name, tuple(found), tuple(examples), options.corpora)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _changes(options: argparse.Namespace) -> list[str]:
    """The settings of training that differ from the file's."""
    return [
        f"total_minutes = {training_minutes(options.minutes)}",
        f"total_steps = {STEPS}",
        "checkpoint_minutes = 1.0",
        *options.set,
    ]


def _train(lesson: Lesson, options: argparse.Namespace) -> None:
    run = lesson.out / "run"
    command = ["--init", options.init, "--data", lesson.out / "dialogues.jsonl", "--out", run]
    command += ["--corpora", options.corpora] if options.corpora else []
    train(
        [
            str(word)
            for word in (*command, *(w for change in _changes(options) for w in ("--set", change)))
        ]
    )
    part = lesson.out / "checkpoint.part"
    part.mkdir(exist_ok=True)
    export(run, part, int8=False, limit=int(SHARD_MIB * 2**20))
    part.rename(lesson.out / "checkpoint")


def _write_folder(lesson: Lesson, options: argparse.Namespace) -> None:
    """Write the agent and its tools, and the same agent with silent tools for `voice.prove`."""
    out, rehearsal = lesson.out, lesson.out / "rehearsal"
    rehearsal.mkdir(exist_ok=True)
    writer = lesson.writer("train")
    remote = bool(options.mcp) or sources.is_url(options.source or "")
    module = f"{re.sub(r'[^a-z0-9]+', '_', lesson.name.lower())}_tools"
    llm = {"checkpoint": str((out / "checkpoint").resolve())}
    tools: Mapping[str, Any] = {"modules": [module]}
    if remote:
        program, *rest = shlex.split(options.mcp or "-")
        server: Mapping[str, Any] = (
            {"command": program, "args": rest} if options.mcp else {"url": options.source}
        )
        tools = {"mcp": {lesson.name: {**server, "allow": [t.name for t in lesson.tools]}}}
    else:
        written(out / f"{module}.py", _module(lesson, options))
    for place, own, given in (
        (out, not remote, tools),
        (rehearsal, True, {"modules": [f"{module}_silent"]}),
    ):
        made = folder.agent(lesson.name, lesson.instructions, lesson.askings, writer, own)
        written(place / "agent.toml", folder.toml(made))
        config = {"agent": str((place / "agent.toml").resolve()), "llm": llm, "tools": given}
        written(place / "serve.toml", folder.toml(config))
    silent = folder.module(lesson.name, lesson.tools, folder.SILENT, folder.SILENT_IMPORTS)
    written(rehearsal / f"{module}_silent.py", silent)
    told = folder.scenarios((rehearsal / "agent.toml").resolve(), lesson.askings, writer)
    written(out / "scenarios.toml", folder.toml(told))


def _module(lesson: Lesson, options: argparse.Namespace) -> str:
    """The module of the agent's tools: the user's functions, HTTP requests, or stubs to fill in."""
    if options.source.endswith(".py"):
        return folder.of_functions(Path(options.source).resolve(), lesson.tools)
    if any(tool.request for tool in lesson.tools):
        variable = f"{re.sub(r'[^A-Z0-9]+', '_', lesson.name.upper())}_URL"
        imports = folder.ASKING_IMPORTS.format(
            variable=variable, base=options.base or sources.base_url(options.source)
        )
        return folder.module(lesson.name, lesson.tools, folder.ASKING, imports)
    return folder.module(lesson.name, lesson.tools, folder.SILENT, folder.SILENT_IMPORTS)


def _report(lesson: Lesson, notes: Sequence[str], minutes: float) -> None:
    before, after = lesson.kept("before.json"), lesson.kept("after.json")
    wrong = [
        {"said": f["said"][-1], "got": f["got"], "wanted": f["wanted"]} for f in after["failures"]
    ]
    record = lesson.kept("run/run.json")
    report = {
        "name": lesson.name,
        "before": before["figures"],
        "after": after["figures"],
        "minutes": minutes,
        "training_minutes": round(record["minutes"], 2),
        "steps": record["step"],
        "machine": record["machine"],
        "dialogues": len((lesson.out / "dialogues.jsonl").read_text(encoding="utf-8").splitlines()),
        "notes": list(notes),
        "failures": wrong,
    }
    lesson.keep("report.json", report)
    written(lesson.out / "report.md", folder.markdown(report))


def _prove(out: Path) -> None:
    """Have simulated callers hold the scenarios' conversations, with silent tools.

    Raises:
        SystemExit: With the exit status of `voice.prove` if that is not 0: 1 if a conversation
            failed.
    """
    command = [
        sys.executable,
        "-m",
        "voice.prove",
        str(out / "scenarios.toml"),
        "--out",
        str(out / "scorecard"),
    ]
    command += ["--config", str(out / "rehearsal" / "serve.toml")]
    paths = [str((out / "rehearsal").resolve()), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}, check=False
    )
    if done.returncode:
        raise SystemExit(done.returncode)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dlm.teach", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("source", nargs="?", help="OpenAPI or JSON file, Python file, or URL of an MCP server")
    add("--mcp", default="", metavar="COMMAND", help="start this MCP server and take its tools")
    add("--out", type=Path, required=True, help="the folder")
    add("--examples", type=Path, help="sentences with their calls, JSON lines")
    add("--only", default="", metavar="NAMES", help="these tools of the list, with commas between")
    add("--without", default="", metavar="NAMES", help="all tools but these")
    add("--name", default="", help="of the agent; else the file's")
    add(
        "--base",
        default="",
        metavar="URL",
        help="of an OpenAPI file's service, where the file has none",
    )
    add("--minutes", type=number(float, 0.1), default=14.0, help="for everything but --prove")
    add("--prove", action="store_true", help="then have simulated callers talk with it")
    add("--corpora", type=Path, help="directory of the text corpora")
    add(
        "--init", type=Path, default=SHIPPED, help="checkpoint that learns; else the one that ships"
    )
    add("--set", action="append", default=[], help="an option of training: 'seed = 3'")
    return parser


if __name__ == "__main__":
    main()
