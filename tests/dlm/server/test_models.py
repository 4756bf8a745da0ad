from dataclasses import replace

from pydantic import TypeAdapter

from dlm.server.description import ModelCard, ModelList


def test_a_model_is_listed_under_each_of_its_names() -> None:
    listed = ModelCard(("a", "org/b"), 4096, 16_384, created=7).listed()
    assert TypeAdapter(ModelList).validate_python(listed, strict=True) == listed
    assert [entry["id"] for entry in listed["data"]] == ["a", "org/b"]
    assert listed["data"][0]["max_output_length"] == listed["data"][0]["context_length"] == 4096


def test_a_model_that_thinks_says_so() -> None:
    card = ModelCard(("a",), 4096, 16_384)
    assert "reasoning" not in card.body("a")["supported_features"]
    assert "reasoning" in replace(card, reasons=True).body("a")["supported_features"]
