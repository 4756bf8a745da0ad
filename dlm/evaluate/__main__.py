"""``python -m dlm.evaluate``: one table for a checkpoint, or for any OpenAI-compatible endpoint."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from dlm.command_line import number, told
from dlm.effort import Effort
from dlm.engine.engine import SHIPPED, Engine
from dlm.evaluate.endpoint import Endpoint
from dlm.evaluate.report import table
from dlm.evaluate.run import Plan, Results, ask_engine, evaluate
from dlm.evaluate.sets import SEED, SETS


def main() -> None:
    """Read the command line, evaluate and print; after a failure, mark figures ``incomplete``.

    Raises:
        SystemExit: 2 if what was asked for cannot be done.
    """
    parser = _parser()
    arguments = _arguments(parser)
    with told(parser):
        _run(arguments)


def _run(arguments: argparse.Namespace) -> None:
    plan = Plan(
        arguments.corpora,
        _names(arguments),
        arguments.scale,
        not arguments.free,
        not arguments.quick,
        arguments.seed,
        arguments.data,
        arguments.effort,
    )
    results = Results()
    try:
        _measure(arguments, plan, results)
    except OSError as error:
        # Keep what was measured: there may be hours of answers before the one that failed.
        if results.figures.get("sets"):
            results.figures["incomplete"] = str(error)
            _write(arguments, results)
        raise
    _write(arguments, results)


def _write(arguments: argparse.Namespace, results: Results) -> None:
    figures = {"checkpoint": arguments.model or arguments.checkpoint.name, **results.figures}
    print(table(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    if arguments.failures:
        lines = [json.dumps(failure, ensure_ascii=False) for failure in results.failures]
        arguments.failures.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dlm.evaluate", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=SHIPPED, help="else the one that ships")
    parser.add_argument("--endpoint", help="base URL of an OpenAI-compatible API, with /v1")
    parser.add_argument("--model", help="the endpoint's model; its key is OPENAI_API_KEY")
    parser.add_argument("--corpora", type=Path, help="directory of the text corpora")
    parser.add_argument("--data", type=Path, help="dialogues of your own, as for fine-tuning")
    parser.add_argument("--sets", help=f"some of {','.join(SETS)}")
    parser.add_argument(
        "--scale", type=number(float, 0), default=1.0, help="how many cases, 1 is usual"
    )
    parser.add_argument("--free", action="store_true", help="string arguments need not be spans")
    parser.add_argument("--quick", action="store_true", help="the sets alone")
    parser.add_argument("--seed", type=int, default=SEED, help="of the cases")
    parser.add_argument("--effort", type=Effort, choices=list(Effort), default=Effort.INSTANT)
    parser.add_argument(
        "--threads", type=number(int, 0), default=0, help="of torch; 0 takes what is fast"
    )
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--failures", type=Path, help="write what went wrong here, as JSON lines")
    return parser


def _arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    arguments = parser.parse_args()
    # Checked first, as a misspelt directory would lose hours of answers.
    for file in (arguments.json, arguments.failures):
        if file is not None and not file.parent.is_dir():
            parser.error(f"{file}: there is no directory {file.parent}")
    if bool(arguments.endpoint) != bool(arguments.model):
        parser.error("--endpoint and --model go together")
    return arguments


def _names(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The sets to measure: those named, else none of ours if ``--data`` is given, else all."""
    if arguments.sets:
        return tuple(arguments.sets.split(","))
    return () if arguments.data else tuple(SETS)


def _measure(arguments: argparse.Namespace, plan: Plan, results: Results) -> None:
    def report(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    if arguments.endpoint:
        evaluate(plan, Endpoint(arguments.endpoint, arguments.model), None, report, results)
        return
    engine = Engine.load(arguments.checkpoint, threads=arguments.threads)
    try:
        evaluate(plan, ask_engine(engine), engine, report, results)
    finally:
        engine.close()


if __name__ == "__main__":
    main()
