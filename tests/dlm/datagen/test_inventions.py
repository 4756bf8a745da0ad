import re
from random import Random

from dlm.datagen.grammar import template
from dlm.datagen.inventions import INVENTIONS, reply, twin
from dlm.datagen.schemas import TOOLS
from dlm.datagen.values import Values

VALUES = Values()


def test_there_are_many_and_none_is_an_agents_own() -> None:
    assert len(INVENTIONS) >= 35
    assert not set(INVENTIONS) & set(TOOLS)


def test_each_is_complete() -> None:
    for tool in INVENTIONS.values():
        assert tool.verbs and tool.nouns and tool.ability and len(tool.descriptions) >= 2
        assert len(tool.say) >= 5 and tool.results and tool.replies
        assert tool.spec["parameters"]["required"] == [
            k for k in tool.kinds if k not in tool.optional
        ]
        assert not tool.bare or tool.ask


def test_replies_hold_nothing_that_the_result_does_not() -> None:
    rng = Random(9)
    for tool in INVENTIONS.values():
        for _ in range(30):
            given = {
                k: VALUES.draw(kind, rng)
                for k, kind in tool.kinds.items()
                if k not in tool.optional or rng.random() < 0.5
            }
            result = twin(tool, given, VALUES, rng)
            if result.error:
                assert result.text.startswith("Error: ")
                continue
            said = reply(tool, result, rng)
            assert "{" not in said and said[0] == said[0].upper()
            shown = template(result.fields[""]).slots
            used = {s for r in tool.replies for s in template(r).slots if result.fields.get(s)}
            for slot in used - shown - set(given):
                assert result.fields[slot] not in said


def test_a_die_shows_no_more_than_its_sides() -> None:
    rng, dice = Random(3), INVENTIONS["roll_dice"]
    for sides in ("eight", "4"):
        texts = [twin(dice, {"sides": sides}, VALUES, rng).text for _ in range(60)]
        shown = {int(n) for text in texts for n in re.findall(r"\d+", text)}
        assert shown <= set(range(1, 9 if sides == "eight" else 5)) and len(shown) > 2
