import pytest

from dlm.datagen.coffee_rows import orders, read


def slots(text: str) -> dict[str, str] | None:
    found = read(text)
    return None if found is None else {p.slot: p.text for p in found if p.slot}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Can I get a latte?", {"drink": "latte"}),
        (
            "I want an iced cortado with oat milk and vanilla.",
            {"drink": "iced cortado", "milk": "oat milk", "extras": "vanilla"},
        ),
        ("Two Chai Lattes please", {"quantity": "Two", "drink": "Chai Lattes"}),
        (
            "a double macchiato with a pump of vanilla syrup",
            {"shots": "double", "drink": "macchiato", "sweetener": "a pump of vanilla syrup"},
        ),
        ("an almond milk mocha", {"milk": "almond milk", "drink": "mocha"}),
    ],
)
def test_orders_are_read(text: str, wanted: dict[str, str]) -> None:
    assert slots(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "what drinks do you have",
        "a latte and a mocha please",
        "a latte with unicorn dust",
        "a latte with oat milk or almond milk",
    ],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    assert read(text) is None


def test_only_the_first_words_of_a_dialogue_count() -> None:
    def row(*said: str) -> dict[str, object]:
        call = {"role": "assistant", "content": None, "tool_calls": [{"name": "get_menu_items"}]}
        return {"messages": [*({"role": "user", "content": s} for s in said), call]}

    rows = [row("a latte please"), row("a latte please"), row("hello", "a mocha please")]
    assert [text for text, _ in orders(rows)] == ["a latte please"]
