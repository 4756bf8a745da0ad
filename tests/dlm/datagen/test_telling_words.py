from dlm.datagen.telling_words import LONGEST, phrases

SENTENCES = {
    "rent": ["where can i rent a car", "i want to rent a vehicle", "rent me a car in town"],
    "wash": ["please wash the car", "i want the vehicle washed", "wash my windows"],
    "hello": ["how are you"],
}


def test_words_of_one_intent_are_told_in_the_order_said() -> None:
    told = phrases(SENTENCES)
    assert told["rent"][0] == "rent_car"
    assert set(told["wash"]) == {"wash", "washed", "wash_windows"}


def test_small_words_and_words_of_every_intent_name_nothing() -> None:
    told = phrases({name: [f"{s} now thing" for s in s] for name, s in SENTENCES.items()})
    assert "hello" not in told
    assert not any("thing" in p or "the" in p.split("_") for found in told.values() for p in found)


def test_a_phrase_is_short_and_said_by_one_sentence() -> None:
    long = {"long": ["violet bishop hammers seven crooked nails"] * 3, "other": ["stop"]}
    (phrase,) = phrases(long)["long"]
    assert len(phrase.split("_")) == LONGEST
    assert set(phrase.split("_")) <= set(long["long"][0].split())
