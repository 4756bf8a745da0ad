"""Small talk: replies to unseen openers, and the perplexity of people's answers.

Openers and answers are held-out rows of the small-talk corpus, and beginnings of people's dialogues
that training never reads.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from random import Random

from dlm.datagen.corpora.collection import Corpora
from dlm.datagen.corpora.files import rows
from dlm.datagen.language.wording import SMALL_TALK, TALK
from dlm.datagen.tools.catalog import AGENT_TOOLS, INSTRUCTIONS, TOOLS
from dlm.engine.engine import Engine, Request
from dlm.evaluate.scores import Ask, loops
from dlm.language.messages import Turn
from dlm.language.template import tools_of

PEOPLE = "self_dialogue.jsonl.xz"
PEOPLE_READ = 2000
OPENER_WORDS = range(3, 15)


def openers(corpora: Corpora, directory: Path, count: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of opener and answer, no opener twice.

    Args:
        corpora: The held-out part; its small talk comes first.
        directory: Directory of the corpora; people's dialogues make up the number if there is too
            little small talk.
        count: How many pairs to return, if there are as many.
        seed: Seed of the choice.
    """
    rng = Random(f"{seed} talk")
    known = dict(corpora.chat)
    found = rng.sample(sorted(known.items()), min(count, len(known)))
    if len(found) < count:
        others = sorted(_beginnings(directory / PEOPLE).items() - known.items())
        found += rng.sample(others, min(count - len(found), len(others)))
    return found


def _beginnings(path: Path) -> dict[str, str]:
    """First messages of people's dialogues, with their answers."""
    messages = (row["messages"] for row in islice(rows(path), PEOPLE_READ))
    pairs = ([m["content"] for m in some[:2]] for some in messages if len(some) > 1)
    return {first: second for first, second in pairs if len(first.split()) in OPENER_WORDS}


def alike(corpora: Corpora | None) -> dict[str, frozenset[str]]:
    """Small-talk replies, each with all replies that answer the same things.

    Args:
        corpora: Its answers to one question are such a group too.
    """
    topics = (*TALK.topics.values(), *SMALL_TALK.values())
    groups = [set(topic.answers) for topic in topics]
    by_question: defaultdict[str, set[str]] = defaultdict(set)
    for question, answer in corpora.chat if corpora else ():
        by_question[question].add(answer)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in (*groups, *by_question.values()):
        for answer in group:
            found[answer] |= group
    return {answer: frozenset(others) for answer, others in found.items()}


def small_talk(pairs: list[tuple[str, str]], ask: Ask) -> dict[str, float | int]:
    """Answer openers with the assistant's tools declared.

    Returns:
        Shares of answers that are empty, repeat themselves or call a tool. For answers without a
        call, the median and 95th percentile of their words and the share of the commonest answer.
    """
    answers = [ask(_opening(opener)) for opener, _ in pairs]
    texts = [a.answer.content if a else "" for a in answers if not (a and a.answer.calls)]
    lengths = sorted(len(t.split()) for t in texts)
    count = max(1, len(answers))
    return {
        "openers": len(answers),
        "empty": round(texts.count("") / count, 4),
        "loops": round(sum(map(loops, texts)) / count, 4),
        "called": round((len(answers) - len(texts)) / count, 4),
        "words_p50": statistics.median(lengths) if lengths else 0,
        "words_p95": lengths[len(lengths) * 95 // 100] if lengths else 0,
        "commonest_reply": round(max(Counter(texts).values(), default=0) / max(1, len(texts)), 4),
    }


def perplexity(pairs: list[tuple[str, str]], engine: Engine) -> float:
    """Perplexity of people's answers, per word so that it does not depend on the tokenizer."""
    nats = words = 0.0
    for opener, answer in pairs:
        request = _opening(opener)
        nats -= engine.score(request.turns, request.tools, [answer])[0]
        words += len(answer.split()) + 1
    return round(math.exp(nats / words), 2) if words else math.nan


def _opening(opener: str) -> Request:
    tools = tools_of([TOOLS[name] for name in AGENT_TOOLS["assistant"]])
    return Request((Turn("system", INSTRUCTIONS["assistant"]), Turn("user", opener)), tools)
