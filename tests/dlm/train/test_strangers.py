from pathlib import Path
from random import Random

from dlm.train.corpora import load
from dlm.train.strangers import write
from dlm.train.values import Values


def test_every_row_calls_what_it_offers() -> None:
    rng, values = Random(1), Values()
    calls = asked = 0
    for _ in range(800):
        written = write(rng, values, "train", {})
        if written is None:
            continue
        tools, messages = written
        schemas = {t["name"]: t["parameters"] for t in tools}
        assert len({n.lower() for n in schemas}) == len(tools)
        assert messages[0]["role"] == "user" and messages[-1]["role"] == "assistant"
        asked += messages[1].get("content") is not None
        for call in [c for m in messages for c in m.get("tool_calls", ())]:
            calls += 1
            given, schema = call["arguments"], schemas[call["name"]]
            assert set(schema["required"]) <= set(given) <= set(schema["properties"])
            assert list(given) == [k for k in schema["properties"] if k in given]
    assert calls > 800 and asked > 40


def test_intents_are_offered_beside_composed_tools(corpora: Path) -> None:
    purposes = load(corpora, "heldout").purposes
    assert len(purposes) > 10
    rng, values = Random(2), Values(corpora)
    rows = [w for _ in range(100) if (w := write(rng, values, "heldout", purposes))]
    assert len(rows) > 80
