"""What happens in an order beyond requests: swapping, leaving out, once more, starting over."""

from __future__ import annotations

from dlm.datagen import catalog
from dlm.datagen.phrasings_coffee import AGAIN, CLEAR, SWAP, WITHOUT
from dlm.datagen.replies import CLEARED
from dlm.datagen.script import Call, Script, ordered
from dlm.datagen.world import Arguments

_LEFT_OUT = ("milk", "sweetener", "extras", "shots", "roast")


def _last_order(script: Script) -> Arguments | None:
    if script.last is None or script.last[0] != "order_drink" or script.last[2].error:
        return None
    return script.last[1]


def swap(script: Script) -> bool:
    """The customer wants another drink in place of the last one."""
    before = _last_order(script)
    if before is None or "quantity" in before:
        return False
    given = script.ask("order_drink", SWAP, before)
    script.call([("remove_drink", {"drink": before["drink"]}), _order(given)])
    _tell(script)
    return True


def without(script: Script) -> bool:
    """The customer wants something left out of the last drink."""
    before = _last_order(script)
    present = [k for k in _LEFT_OUT if before is not None and k in before]
    if before is None or not present:
        return False
    key = script.rng.choice(present)
    options = tuple(o.replace("{what}", _plain(before[key])) for o in WITHOUT)
    script.ask("order_drink", options)
    rest = {k: v for k, v in before.items() if k != key}
    script.call([("remove_drink", {"drink": before["drink"]}), _order(rest)])
    _tell(script)
    return True


def again(script: Script) -> bool:
    """The customer wants the last drink once more, or several of it."""
    before = _last_order(script)
    if before is None or "quantity" in before:
        return False
    given = script.ask("order_drink", AGAIN)
    script.answer([_order(before | given)])
    return True


def clear(script: Script) -> bool:
    """The customer takes the whole order back."""
    drinks = [a["drink"] for a in script.world.order]
    if not drinks or len(drinks) > 3:
        return False
    script.ask("order_drink", CLEAR)
    script.call([("remove_drink", {"drink": drink}) for drink in drinks])
    script.say(script.rng.choice(CLEARED))
    script.last = None
    return True


def _order(arguments: Arguments) -> Call:
    return "order_drink", ordered(arguments, catalog.PARAMETERS["order_drink"])


def _plain(value: str) -> str:
    words = value.lower().split()
    return " ".join(words[1:]) if words[0] in ("a", "an") and len(words) > 1 else " ".join(words)


def _tell(script: Script) -> None:
    assert script.last is not None
    result = script.last[2]
    script.say(script.reply("order_drink", result) if result.error else script.changed(result))
