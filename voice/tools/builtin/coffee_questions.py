"""Answers a customer's questions about the menu, the prices and the order."""

from __future__ import annotations

import re
from collections.abc import Mapping

from voice.config.answers import answers_to
from voice.config.moments import is_question
from voice.tools import phrasing
from voice.tools.builtin.coffee import newest, total
from voice.tools.builtin.coffee_menu import (
    answer,
    asked_on,
    asks_the_price,
    asks_when_ready,
    named_in,
    names_none,
    not_offered,
    prices,
    singular,
)
from voice.tools.builtin.coffee_order import called_so, label_of, unoffered
from voice.tools.registry import ToolError, tool
from voice.tools.scope import SessionScope


def _ready(scope: SessionScope) -> str:
    """A sentence on when a placed order will be ready; empty if that is unknown."""
    if scope.placed is None or not scope.shop.ready_min:
        return ""
    left_s = scope.placed.at_s + 60 * scope.shop.ready_min - scope.now().timestamp()
    left_min = max(1, round(left_s / 60))
    ready = f"will be ready in about {phrasing.counted(left_min, 'minute')}"
    return f"Your order {ready if left_s > 0 else 'should be ready'}."


def _check_known(arguments: Mapping[str, str], _: str, *, scope: SessionScope) -> None:
    """Refuse a question that this module cannot answer, which only the model may understand.

    Raises:
        ToolError: The shop and the menu do not answer it.
    """
    answer_question(arguments["message"], scope=scope)


@tool(read_only=True, refuses=_check_known, knows=("menu", "price"))
def answer_question(message: str, *, scope: SessionScope) -> str:
    """Answer a question about what there is to be had."""
    shop_knows = answers_to(scope.shop.answers, message)
    # "Can I pay by card?" does not ask for a price.
    if not shop_knows and asks_the_price(message) and (told := _what_it_costs(message, scope)):
        return told
    if asks_when_ready(message) and (told := _ready(scope)):
        return told
    if _COMPARES.search(message.lower()) and (told_of := newest(scope)):
        named = [one for one in named_in(message.lower()) if one != told_of.name]
        return answer(f"how much is {' or '.join([told_of.name, *named])}", scope.shop)
    if _WOULD_BE_FINE.search(message.lower()):
        return _whether_fine(message, scope)
    if _ASKS_THE_NAME.search(message.lower()):
        return f"The name is {scope.customer}." if scope.customer else "The order has no name yet."
    try:
        # The toolbox has cut a leading "and" off the message. During the check before the call, the
        # message is not yet the first of `scope.said`.
        there = any(one.endswith(message) for one in scope.said[:1])
        said, *before = scope.said if there else (message, *scope.said)
        return answer(asked_on(said, before, scope.shop) or message, scope.shop)
    except ToolError:
        asked = _WHAT_ABOUT.match(message.lower())
        others = (unoffered(one, message) for one in (named_in(asked.string) if asked else ()))
        if other := next(filter(None, others), ""):
            return not_offered(other, scope.shop)
        raise


def _whether_fine(message: str, scope: SessionScope) -> str:
    """The answer to "so a mocha would be fine?": the shop's answer to the question before it.

    Raises:
        ToolError: It is not a question, or the shop knows no answer to one before it.
    """
    known = (answers_to(scope.shop.answers, one) for one in scope.said if one != message)
    told = next(filter(None, known), []) if message.rstrip().endswith("?") else []
    if not told:
        raise ToolError("Sorry, I do not know that.")
    return " ".join(told)


def _what_it_costs(message: str, scope: SessionScope) -> str:
    """The price of what a question points at: the drinks just asked about, or else the order.

    Empty if it points at nothing.
    """
    if not names_none(message, scope.shop):
        the_one = _THE_ONE.search(message.lower())
        ordered = called_so(singular(the_one[1]), scope.order) if the_one else []
        return prices(label_of(ordered[0], 1, False), scope.shop) if len(ordered) == 1 else ""
    asked = " ".join(one.lower() for one in scope.said[:2] if is_question(one))
    named = [one for one in named_in(asked) if not called_so(one, scope.order)]
    if not scope.order and not named:
        asked = next((one.lower() for one in scope.said if named_in(one.lower())), "")
        named = named_in(asked)
    if named:
        # With its size and the like if it is the only drink.
        return prices(asked if len(named) == 1 else " or ".join(named), scope.shop)
    if not scope.order and _SUM.search(message.lower()):
        return "The order is empty."
    return total(scope).strip()


_THE_ONE = re.compile(r"\b(?:the|my|our) ([\w ]+?)(?: (?:cost|come to|please|then|now))?\W*$")
_SUM = re.compile(r"\b(?:that|this|it|all|everything|owe|total|altogether)\b")
_WHAT_ABOUT = re.compile(r"(?:(?:and|or|so|ok|okay) )*(?:what|how) about ")
_COMPARES = re.compile(
    r"\b(?:is|are|was) (?:it|that|this|those|they) (?:\w+ ){0,2}"
    r"(?:more expensive|cheaper|dearer|pricier|less expensive|more|the same price|as expensive)"
    r" (?:than|as)\b"
)
_WOULD_BE_FINE = re.compile(
    r"\b(?:would|should|will) be (?:\w+ )?(?:fine|ok|okay|safe|alright|all right)\b"
)
_ASKS_THE_NAME = re.compile(
    r"\b(?:what|which|whose|who)\b.*\b(?:names?|under|for)\W*$|\b(?:what|which|whose) name\b"
    r"|\b(?:my|a|the) name (?:on|for|down)\b"
)
