"""What the words of an agent bring its recogniser: ``python -m benchmarks.voice.names``, no server.

Every recording of one half is decoded by Whisper as a whole, with the agent's domain and without.
Orders: those with every slot in the transcript. Commands and read sentences, with either agent's
domain: word errors, and how many transcripts the domain changed. Times are the processor's, of all
that a final decode takes. The half put aside is the one that nothing was set on.
Results go to benchmarks/results/names.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.report import Program, percentiles, share
from benchmarks.voice.corpus import SHARED, Utterance, is_put_aside, needed, orders_of, people
from voice.config import WhisperConfig, load_agent
from voice.hearing.asr.domain import ANYTHING, Domain
from voice.hearing.asr.whisper import WhisperRecognizer
from voice.hearing.spoken_form import spoken_form
from voice.prove.words import errors, words
from voice.types import Samples

HALVES = ("tuning", "aside")
AGENTS = ("coffee", "assistant")


class Ears:
    """Final transcripts, and what they took."""

    def __init__(self) -> None:
        self._recognizer = WhisperRecognizer(WhisperConfig(device="cpu"))

    def hear(self, audio: Samples, domain: Domain) -> tuple[str, float]:
        """Spoken form of what is heard, and milliseconds of the processor."""
        recognizer = self._recognizer
        repair = recognizer.repair(domain)
        began = time.process_time()
        decoded = recognizer.decode(audio, recognizer.config.beam_size, repair)
        return spoken_form(decoded.text), (time.process_time() - began) * 1000


def figures_of(ears: Ears, said: Sequence[Utterance], domain: Domain) -> dict[str, Any]:
    """Figures of some utterances without a domain and with it."""
    plain = [ears.hear(utterance.samples, ANYTHING) for utterance in said]
    aided = [ears.hear(utterance.samples, domain) for utterance in said]
    figures: dict[str, Any] = {
        "utterances": len(said),
        "changed": sum(a != b for (a, _), (b, _) in zip(plain, aided, strict=True)),
        "decode_ms": percentiles([ms for _, ms in plain], 1),
        "added_ms": percentiles([b - a for (_, a), (_, b) in zip(plain, aided, strict=True)], 1),
    }
    for name, heard in (("without", plain), ("with", aided)):
        pairs = [(utterance, text) for utterance, (text, _) in zip(said, heard, strict=True)]
        slots = [[v.strip() in text for v in u.slots.values()] for u, text in pairs if u.slots]
        told = [(words(u.text), words(text)) for u, text in pairs if u.text]
        figures[name] = {
            "orders": share(sum(map(all, slots)), len(slots)),
            "slots": share(sum(map(sum, slots)), sum(map(len, slots))),
            "word_errors": share(sum(errors(*pair) for pair in told), sum(len(a) for a, _ in told)),
        }
    return figures


def main() -> None:
    """Measure one half and write the results."""
    program = Program("benchmarks.voice.names", __doc__, "name")
    program.add_argument("--half", choices=HALVES, default="tuning")
    options = program.parse_args()
    needed(program, SHARED)
    domains = {agent: Domain.of(load_agent(agent)) for agent in AGENTS}
    ears, figures = Ears(), {"half": options.half}
    groups = {"order": orders_of("orders.jsonl", "orders-more.jsonl"), "command and read": people()}
    for kind, utterances in groups.items():
        half = [u for u in utterances if is_put_aside(u.name) == (options.half == "aside")]
        for agent in AGENTS[: 1 if kind == "order" else None]:
            figures[f"{kind}, {agent}"] = figures_of(ears, half, domains[agent])
            print(kind, agent, json.dumps(figures[f"{kind}, {agent}"]), flush=True)
    program.write(figures, options.name)


if __name__ == "__main__":
    main()
