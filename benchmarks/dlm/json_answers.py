"""JSON answers under schemas: ``python -m benchmarks.dlm.json_answers``.

Asks for random schemas of the kinds that pydantic and zod write, each with a sentence that has
little to do with it, and counts the answers that end and those that are valid.
`benchmarks.dlm.strangers` measures whether such answers are right. Results:
benchmarks/results/json_answers.json.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from benchmarks.report import Program, share
from dlm.effort import Effort
from dlm.engine.engine import SHIPPED, Engine, Finished, Request
from dlm.grammar.formats import JsonSchema
from dlm.language.messages import Turn

SEED = 1
SENTENCES = (
    "Anna is 34 and lives in Leeds.",
    "Describe an order of two pizzas.",
    "Tell me about your day.",
    "The printer on floor 3 burns, please help at once!",
)
NAMES = ("name", "age", "city", "title", "tags", "items", "price", "active", "notes", "owner", "id")

Schema = dict[str, Any]


def leaf(draw: random.Random) -> Schema:
    """A random schema of a string, number, boolean, constant or option."""
    number = draw.choice(["integer", "number"])
    return draw.choice(
        [
            {"type": "string"},
            {"type": "string"},
            {"type": "string", "minLength": 1},
            {"type": "string", "maxLength": draw.randint(5, 80)},
            {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
            {"type": "string", "format": draw.choice(["date-time", "date", "email", "uuid"])},
            {"type": number},
            {"type": number},
            {"type": number, "exclusiveMinimum": 0},
            {"type": number, "minimum": -5, "maximum": 100},
            {"type": "boolean"},
            {"enum": ["low", "medium", "high"]},
            {"const": draw.choice(["v1", 3, True])},
        ]
    )


def schema(draw: random.Random, depth: int = 3) -> Schema:
    """A random schema of any value, nested at most ``depth`` deep."""
    kind = draw.randrange(8) if depth else 0
    if kind == 1:
        return {"anyOf": [schema(draw, depth - 1), {"type": "null"}]}
    if kind == 2:
        return {"type": "array", "items": schema(draw, depth - 1)}
    if kind == 3:
        items = [leaf(draw), leaf(draw)]
        return {"type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2}
    if kind == 4:
        names = {"type": "string"}
        return {"type": "object", "propertyNames": names, "additionalProperties": leaf(draw)}
    return document(draw, depth - 1) if kind in (5, 6) else leaf(draw)


def document(draw: random.Random, depth: int = 3) -> Schema:
    """A random schema of an object."""
    names = draw.sample(NAMES, draw.randint(1, 4))
    return {
        "type": "object",
        "properties": {name: schema(draw, max(depth, 0)) for name in names},
        "required": names if draw.random() < 0.8 else names[:1],
        "additionalProperties": False,
    }


def is_valid(text: str, wanted: Schema) -> bool:
    """Whether a text is JSON that fits a schema."""
    try:
        Draft202012Validator(wanted, format_checker=FormatChecker()).validate(json.loads(text))
    except (ValueError, ValidationError):
        return False
    return True


def by_chance(answer: Callable[[str, Schema], Finished], count: int) -> dict[str, Any]:
    """Ask under random schemas, and count the answers that end and that are valid."""
    draw = random.Random(SEED)
    ended = valid = 0
    for number in range(count):
        wanted = document(draw)
        last = answer(SENTENCES[number % len(SENTENCES)], wanted)
        ended += last.reason == "stop"
        valid += is_valid(last.answer.content, wanted)
    return {"schemas": count, "ended": share(ended, count), "valid": share(valid, count)}


def main() -> None:
    """Ask, print and write."""
    program = Program("benchmarks.dlm.json_answers", __doc__)
    program.add_argument("--checkpoint", type=Path, default=SHIPPED)
    program.add_argument("--schemas", type=int, default=300)
    program.add_argument("--max-tokens", type=int, default=512)
    program.add_argument("--effort", type=Effort, default=Effort.INSTANT)
    arguments = program.parse_args()
    engine = Engine.load(arguments.checkpoint)
    seconds: list[float] = []

    def answer(text: str, wanted: Schema) -> Finished:
        asked = Request(
            (Turn("user", text),),
            format=JsonSchema(wanted),
            effort=arguments.effort,
            max_tokens=arguments.max_tokens,
        )
        began = time.perf_counter()
        try:
            return engine.answer(asked)
        finally:
            seconds.append(time.perf_counter() - began)

    try:
        figures = by_chance(answer, arguments.schemas)
    finally:
        engine.close()
    figures["ms_median"] = round(sorted(seconds)[len(seconds) // 2] * 1000, 1)
    print(json.dumps(figures, indent=2))
    program.write(figures)


if __name__ == "__main__":
    main()
