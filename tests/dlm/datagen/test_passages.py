from random import Random

from dlm.datagen.passages import passage


def test_passages_mention_the_query_and_stay_short() -> None:
    rng = Random(2)
    found = [passage("the boiler manual", rng) for _ in range(200)]
    assert all("the boiler manual" in text.lower() and len(text) <= 200 for _, text in found)
    assert all(text.endswith(".") and source == source.lower() for source, text in found)
    assert len({text for _, text in found}) > 150
