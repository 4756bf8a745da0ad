from dlm.datagen.schemas import AGENT_TOOLS, INSTRUCTIONS, TOOLS, spec


def test_both_agents_have_the_tools_of_the_public_interface() -> None:
    assert len(TOOLS) == 25
    assert len(AGENT_TOOLS["assistant"]) == 20
    assert len(AGENT_TOOLS["coffee"]) == 6
    assert set(AGENT_TOOLS["assistant"]) & set(AGENT_TOOLS["coffee"]) == {"end_conversation"}
    assert set(INSTRUCTIONS) == set(AGENT_TOOLS)


def test_parameters_keep_their_order_and_optional_ones_are_not_required() -> None:
    drink = TOOLS["order_drink"]["parameters"]
    assert " ".join(drink["properties"]) == (
        "drink size roast milk shots sweetener extras quantity"
    )
    assert drink["required"] == ["drink"]
    assert TOOLS["set_device"]["parameters"]["required"] == ["device", "state"]


def test_descriptions_are_one_short_sentence() -> None:
    for tool in TOOLS.values():
        assert tool["description"].endswith(".")
        assert len(tool["description"].split()) <= 8


def test_spec_marks_optional_parameters() -> None:
    made = spec("t", "D.", ["a", "b?"])
    assert list(made["parameters"]["properties"]) == ["a", "b"]
    assert made["parameters"]["required"] == ["a"]
