"""JSON schemas by chance, of everything that a grammar can hold."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]

KEYS = ["name", "größe", "日本", 'say "hi"', "a b", "back\\slash", "x/y", "😀", "", "tab\t"]
VALUES: list[Any] = ["low", "höch", "🚀 go", 'q"', "", 0, -7, 2.5, True, False, None, ["a", 1]]
PATTERNS = ["^[A-Z]{2}-[0-9]{3}$", "^(ja|nein)$", "^[à-ü]{1,3}$"]
DEFINITIONS = {
    "Tree": {
        "type": "object",
        "properties": {
            "label": {"enum": ["leaf", "Blatt 🍂"]},
            "child": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        },
        "required": ["label", "child"],
        "additionalProperties": False,
    },
    "Money": {"type": "number", "minimum": 0, "maximum": 1000},
}


def _bounded(kind: str, low: str, high: str) -> st.SearchStrategy[Schema]:
    bounds = st.tuples(st.integers(-50, 50), st.integers(1, 40))
    return bounds.map(lambda pair: {"type": kind, low: pair[0], high: pair[0] + pair[1]})


def _strings() -> st.SearchStrategy[Schema]:
    return st.one_of(
        st.integers(0, 6).map(lambda most: {"type": "string", "maxLength": most}),
        st.integers(0, 3).map(lambda n: {"type": "string", "minLength": n, "maxLength": n + 4}),
        st.sampled_from(PATTERNS).map(lambda pattern: {"type": "string", "pattern": pattern}),
        # Not dates: llguidance's pattern has a February 29 in every year.
        st.sampled_from(["uuid", "ipv4"]).map(lambda f: {"type": "string", "format": f}),
        st.just({"type": "string"}),
    )


def _leaves() -> st.SearchStrategy[Schema]:
    return st.one_of(
        _strings(),
        _bounded("integer", "minimum", "maximum"),
        _bounded("number", "minimum", "maximum"),
        _bounded("number", "exclusiveMinimum", "exclusiveMaximum"),
        st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": "integer"}]),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=4).map(lambda v: {"enum": v}),
        st.sampled_from(VALUES).map(lambda value: {"const": value}),
        st.sampled_from(sorted(DEFINITIONS)).map(lambda name: {"$ref": f"#/$defs/{name}"}),
    )


def _arrays(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    sizes = st.tuples(st.integers(0, 2), st.integers(0, 2))
    lists = st.tuples(inner, sizes).map(
        lambda drawn: {
            "type": "array",
            "items": drawn[0],
            "minItems": drawn[1][0],
            "maxItems": sum(drawn[1]),
        }
    )
    tuples_ = st.lists(inner, min_size=1, max_size=2).map(
        lambda items: {
            "type": "array",
            "prefixItems": items,
            "items": False,
            "minItems": len(items),
        }
    )
    return lists | tuples_


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    properties = draw(st.dictionaries(st.sampled_from(KEYS), inner, max_size=3))
    required = [name for name in properties if draw(st.booleans())]
    extra = draw(st.sampled_from([False, False, {"type": "integer", "minimum": 0, "maximum": 9}]))
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": extra,
    }


def _nested(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    nullable = inner.map(lambda schema: {"anyOf": [schema, {"type": "null"}]})
    either = st.tuples(inner, inner).map(lambda pair: {"anyOf": list(pair)})
    return st.one_of(_arrays(inner), _objects(inner), nullable, either)


def values() -> st.SearchStrategy[Schema]:
    """Schemas of a value; what they refer to is in `DEFINITIONS`."""
    return st.recursive(_leaves(), _nested, max_leaves=6)


def documents() -> st.SearchStrategy[Schema]:
    """Schemas of a whole answer."""
    return values().map(lambda schema: {**schema, "$defs": DEFINITIONS})
