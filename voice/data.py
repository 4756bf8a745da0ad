"""``python -m voice.data``: lists, exports and deletes what is kept for callers, as JSON.

    python -m voice.data list
    python -m voice.data export --caller phone:+4915112345678
    python -m voice.data delete --caller user:ada

The server may be running meanwhile.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from voice.callers import Caller
from voice.config import load_config
from voice.config.command_line import add_options
from voice.errors import ConfigError, VoiceError
from voice.records.caller_data import CallerData
from voice.records.folder import Conversations
from voice.tools.database import Database
from voice.tools.database.sqlite_file import file_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        config = load_config(options.config, options.set)
        _check_there(config.tools.database)
        with closing(Database(config.tools.database)) as database:
            answer = _answer(CallerData(database, Conversations(config.records)), options)
    except (VoiceError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, indent=2, ensure_ascii=False))
    return 0


def _check_there(place: str) -> None:
    """Refuse a file that no server has made: a new one would have nothing of any caller's.

    Raises:
        ConfigError: There is no such file.
    """
    file = "" if "://" in place else file_of(place)
    if file and not Path(file).exists():
        raise ConfigError(
            f"tools.database: got {file!r}, which is not there; expected the server's"
        )


def _answer(data: CallerData, options: argparse.Namespace) -> dict[str, Any]:
    if options.command == "list":
        return data.listed()
    caller = Caller.parse(options.caller)
    return data.exported(caller) if options.command == "export" else data.deleted(caller)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m voice.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    add_options(common, "tools.database=FILE_OR_URL")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", parents=[common], help="who has entries, and how many")
    for name, does in (("export", "all entries of a caller"), ("delete", "delete them")):
        command = commands.add_parser(name, parents=[common], help=does)
        command.add_argument("--caller", required=True, help="as the list names it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
