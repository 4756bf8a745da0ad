"""What customers say at a counter besides plain orders: questions, second thoughts, chatter.

Like those of `dlm.datagen.turns.basic`, each function writes one turn into a script, and returns
False if it does not fit what was said before. The words are in ``data/at_counter.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dlm.datagen.holdout import pick
from dlm.datagen.language.spontaneous import side
from dlm.datagen.language.tables import Lists, read
from dlm.datagen.language.wording import TALK
from dlm.datagen.language.words import WORDS
from dlm.datagen.own_tools.script import Script, call_of, calls_of
from dlm.datagen.tools.world import Arguments, bare
from dlm.datagen.turns.at_length import just_ordered
from dlm.datagen.turns.basic import answer_all, eased, last_order, tell_changed
from dlm.datagen.turns.drink_groups import compose_groups, compose_plainly, said_again
from dlm.datagen.values.slots import plural
from dlm.language.spoken_numbers import number

_COUNTER = read("at_counter", Lists)
_NTH = ("first", "second", "third", "fourth", "fifth")
_AMOUNT = re.compile(rf"(?:{'|'.join(map(re.escape, WORDS['amount']))}|an?|some) ")
_NOTHING = re.compile(r"(?:no|not|without|hold|skip|minus|leave|don't|drop|lose|remove)\b")


def _say(
    script: Script,
    tool: str,
    options: tuple[str, ...],
    words: Mapping[str, str] | None = None,
    question: bool = False,
) -> Arguments:
    """The user says one of some phrasings, its words in capitals replaced; returns the slots."""
    source = pick(script.rng, options, script.split)
    source = re.sub(r"\b[A-Z]+\b", lambda found: (words or {})[found[0]], source)
    source = re.sub(r"\ba (?=[aeio])", "an ", source)
    return script.speak(eased(script, tool, script.worded(tool, source)), question)


def _slot(name: str, value: str) -> str:
    return f"{{{name}={value.lower()}}}"


def _drinks(script: Script) -> tuple[str, str]:
    """Two different drinks that are not ordered yet."""
    ordered = {one["drink"].lower() for one in script.world.order}
    first, second = script.rng.sample([d for d in WORDS["drink"] if d not in ordered], 2)
    return first, second


def ask(script: Script) -> bool:
    """The customer asks about a drink, perhaps about another, and then orders it or does not."""
    rng, before = script.rng, last_order(script)
    topic = rng.choice(("price", "price", "price", "have", "have", "within"))
    drink = _asked(script, topic)
    offers = _answered(script, topic, drink)
    if topic != "within" and rng.random() < 0.4:
        # After a question for a price, "and a latte?" asks for a price too; it is no order.
        drink = _asked(script, f"and_{topic}")
        offers = _answered(script, topic, drink)
    if not script.messages[-1].get("cut") and rng.random() < 0.3:
        return True
    if not drink or rng.random() < 0.3:
        _say(script, "talk", _COUNTER["leave_it"])
        script.settle(rng.choice(_COUNTER["left"]))
        return True
    if before is not None and "quantity" not in before and rng.random() < 0.6:
        old = before["drink"].lower()
        given = _say(script, "order_drink", _COUNTER["instead"], {"OLD": old})
        script.call([
            ("remove_drink", {"drink": before["drink"]}),
            call_of("order_drink", {"drink": drink} | given),
        ])  # fmt: skip
        tell_changed(script)
        return True
    options = _COUNTER["take"]
    if offers and rng.random() < 0.7:
        options = _COUNTER["take_it"]
    given = _say(script, "order_drink", options)
    script.answer([call_of("order_drink", {"drink": drink} | given)])
    return True


def _asked(script: Script, options: str) -> str:
    """The customer asks a question; returns its drink as heard, empty if it named none."""
    drink, other = _drinks(script)
    words = {"DRINK": _slot("drink", drink), "OTHER": other}
    question = script.rng.random() < 0.7
    given = _say(script, "order_drink", _COUNTER[options], words, question)
    return given.get("drink", "")


def _answered(script: Script, topic: str, drink: str) -> bool:
    """The agent answers; returns whether it offers the drink.

    An answer from the shop's own list is marked as cut, so that it is not learned.
    """
    rng = script.rng
    kind = {"price": "price", "have": "menu", "within": "asked"}[topic]
    text, roll = rng.choice(TALK.shop_talk[kind].answers), rng.random()
    told = bool(drink) and topic != "within" and roll < 0.45
    offers = bool(drink) and topic == "have" and roll > 0.6
    if told or offers:
        source = rng.choice(_COUNTER["shall_i" if offers else f"{topic}s"])
        cost = f"{rng.randint(2, 6)}.{rng.choice(('00', '20', '50', '80', '95'))}"
        text = source.replace("DRINK", drink.lower()).replace("PRICE", cost)
        text = re.sub(r"\b([aA]) (?=[aeio])", r"\1n ", text)
    script.say(text)
    if told:
        script.messages[-1]["cut"] = True
    return offers


def undecided(script: Script) -> bool:
    """The customer wavers between drinks, and orders the last one named."""
    drink, other = _drinks(script)
    third = script.rng.choice([d for d in WORDS["drink"] if d not in (drink, other)])
    options = tuple(o.replace("{drink}", "{drink=WANTED}") for o in _COUNTER["undecided"])
    words = {"DRINK": drink, "OTHER": other, "WANTED": third}
    given = _say(script, "order_drink", options, words)
    script.answer(calls_of("order_drink", given))
    return True


def chatter(script: Script) -> bool:
    """The customer orders with other words before or after it, or rudely."""
    rng, speaker = script.rng, script.speaker("order_drink")
    if rng.random() < 0.25:
        given = _say(script, "order_drink", _COUNTER["rude"])
        return answer_all(script, [("order_drink", given)])
    roll = rng.random()
    compose = compose_plainly if roll < 0.35 else compose_groups
    pieces = said_again(script.worded("order_drink", compose(rng, script.split)))
    if roll < 0.75:
        first = _COUNTER["for_whom" if roll < 0.35 else "lead_ins"]
        pieces = [side(speaker.words(first)), *pieces]
    if roll > 0.6 or rng.random() < 0.3:
        pieces = [*pieces, side(speaker.words(_COUNTER["trail_offs"]))]
    return answer_all(script, [("order_drink", script.speak(pieces))])


def amount(script: Script) -> bool:
    """The customer changes the number of the last drink."""
    before = last_order(script)
    if before is None:
        return False
    rng, drink, old = script.rng, before["drink"].lower(), before.get("quantity", "")
    single = drink if drink.endswith("ss") else drink.removesuffix("s")
    if old and number(old) != 1 and rng.random() < 0.5:
        given = _say(script, "change_drink", _COUNTER["fewer"], {"A": single, "OLD": old.lower()})
    else:
        options = _COUNTER["amounts"]
        if old:
            options = tuple(o for o in options if not re.search(r"\b(?:one|1|=two)\b", o))
        many = script.drawing.single("order_drink", "quantity")
        if number(many) == number(old or "one"):
            return False
        options = tuple(o.replace("{quantity}", "{quantity=MANY}") for o in options)
        given = _say(script, "change_drink", options, {"A": plural(single), "MANY": many})
    script.answer([call_of("change_drink", {"drink": before["drink"]} | given)])
    return True


def swap_detail(script: Script) -> bool:
    """The customer swaps a detail of the last drink, such as its milk or size, for another."""
    return _other_detail(script, {
        "milk": "swap_added", "sweetener": "swap_added", "size": "swap_made", "roast": "swap_made",
    })  # fmt: skip


def insist(script: Script) -> bool:
    """The customer says that a detail was misheard."""
    return _other_detail(script, dict.fromkeys(("milk", "sweetener", "size", "roast"), "insist"))


def _other_detail(script: Script, lists: dict[str, str]) -> bool:
    """Give a detail of the last drink another value; ``lists`` has the phrasings of each detail."""
    rng = script.rng
    if script.last is None or script.last[0] not in ("order_drink", "change_drink"):
        return False
    drink = script.last[1]["drink"]
    ordered = next((o for o in reversed(script.world.order) if o["drink"] == drink), {})
    known = [k for k in lists if k in ordered and not _NOTHING.match(ordered[k].lower())]
    if script.last[2].error or not known:
        return False
    key = rng.choice(known)
    old = _AMOUNT.sub("", ordered[key].lower())
    new = script.drawing.other("order_drink", key, ordered[key]).lower()
    if not new or _AMOUNT.sub("", new) == old or _NOTHING.match(new):
        return False
    loud = lists[key] == "insist" and script.style.cased and rng.random() < 0.35
    new = new.upper() if loud else new
    words = {"OLD": old, "NEW": f"{{{key}={new}}}", "SAME": new, "A": bare(drink)}
    given = _say(script, "change_drink", _COUNTER[lists[key]], words)
    script.answer([call_of("change_drink", {"drink": drink} | given)])
    return True


def other_drink(script: Script) -> bool:
    """The customer names the last drink and the one to have instead."""
    before = last_order(script)
    if before is None or "quantity" in before:
        return False
    drink = before["drink"].lower()
    new = script.rng.choice([d for d in WORDS["drink"] if d != drink])
    options = tuple(o.replace("{drink}", "{drink=WANTED}") for o in _COUNTER["other_drink"])
    given = _say(script, "order_drink", options, {"A": drink, "WANTED": new})
    script.call([("remove_drink", {"drink": before["drink"]}), call_of("order_drink", given)])
    tell_changed(script)
    return True


def place(script: Script) -> bool:
    """The customer refers to one of the drinks just ordered by its place in the order."""
    known = just_ordered(script)
    if not 2 <= len(known) <= len(_NTH) or any("quantity" in a for a in known):
        return False
    rng = script.rng
    at = rng.randrange(len(known))
    last = at == len(known) - 1
    nth = f"{'last' if last and rng.random() < 0.6 else _NTH[at]} {rng.choice(('one', 'drink'))}"
    drink = known[at]["drink"]
    kinds = [k for k in ("size", "milk", "roast") if k not in known[at]]
    if not kinds or rng.random() < 0.3:
        _say(script, "remove_drink", _COUNTER["place_gone"], {"PLACE": nth})
        script.answer([("remove_drink", {"drink": drink})])
        return True
    options = _COUNTER[f"place_{rng.choice(kinds)}"]
    given = _say(script, "change_drink", options, {"PLACE": nth})
    script.answer([call_of("change_drink", {"drink": drink} | given)])
    return True


def remove_two(script: Script) -> bool:
    """The customer cancels two of several drinks."""
    names = _apart(script)
    if len(names) < 2:
        return False
    first, second = script.rng.sample(names, 2)
    words = {"A": _slot("drink", first), "B": _slot("drink2", second)}
    given = _say(script, "remove_drink", _COUNTER["remove_two"], words)
    script.answer(calls_of("remove_drink", given))
    return True


def keep_one(script: Script) -> bool:
    """The customer cancels all but one of several drinks."""
    names = _apart(script)
    if not 2 <= len(names) <= 4:
        return False
    kept = script.rng.choice(names)
    _say(script, "remove_drink", _COUNTER["keep_one"], {"A": kept.lower()})
    script.answer([("remove_drink", {"drink": name}) for name in names if name != kept])
    return True


def _apart(script: Script) -> list[str]:
    """The names of the ordered drinks, if none can be taken for another; else []."""
    names = [a["drink"] for a in script.world.order]
    plain = [name.lower().removesuffix("s") for name in names]
    alike = any(a in b for i, a in enumerate(plain) for j, b in enumerate(plain) if i != j)
    return [] if alike else names


def off_menu(script: Script) -> bool:
    """The customer orders what a coffee shop does not have, and then perhaps something else."""
    thing = script.rng.choice(_COUNTER["off_menu"])
    words = {"THING": _slot("drink", thing)}
    given = _say(script, "order_drink", _COUNTER["off_frames"], words)
    script.answer(calls_of("order_drink", given))
    if script.last is not None and script.last[2].error and script.rng.random() < 0.6:
        options = _COUNTER["off_then"]
        offered = re.findall(r"\ban? ([a-z ]+?)(?=,| or |\?)", script.last[2].text)
        if offered and script.rng.random() < 0.6:
            options = tuple(o.replace("{drink}", "{drink=WANTED}") for o in options)
            given = _say(script, "order_drink", options, {"WANTED": script.rng.choice(offered)})
        else:
            given = _say(script, "order_drink", options)
        script.answer(calls_of("order_drink", given))
    return True
