"""``python -m dlm.train.rehearse --init TEACHER --out FILE``: a chat model's own talk.

A chat model is given the beginning of a user's message, goes on with it, and answers: what it
writes is what it knows. The dialogues are examples as ``dlm.train --data`` reads them, appended to
the file.

Source: Magpie (arXiv 2406.08464).
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from dlm.kv_cache.cache import KVCache
from dlm.language.messages import Turn
from dlm.loading.checkpoint import Checkpoint, load_checkpoint
from dlm.loading.placement import bfloat16_is_fast
from dlm.network.model import Rows
from dlm.train.machine import prepare
from dlm.train.reporting import append_json

OPENINGS = [
    "What is", "What are", "What does", "What should I", "What's the difference between",
    "What's a good", "Who", "When", "Where", "Why do", "Why is", "How do I", "How does",
    "How can I", "How many", "How long", "Is it", "Are there", "Do you", "Can you explain",
    "Can you", "Could you tell me", "Tell me", "Tell me about", "Give me", "I want to", "I need",
    "I feel", "I'm", "My", "Should I", "Which", "Name", "Explain", "Describe", "Suggest", "Hi",
    "Hello", "Good morning", "Thanks",
]  # fmt: skip
"""First words of messages."""
BRIEF = "You are a helpful voice assistant. Answer in one or two short sentences."
LONGEST_QUESTION, LONGEST_ANSWER = 40, 72


@torch.inference_mode()
def continued(
    checkpoint: Checkpoint,
    prompts: Sequence[Sequence[int]],
    longest: int,
    temperature: float,
    rng: torch.Generator,
) -> list[list[int]]:
    """What a causal model writes behind each prompt, up to an end or the longest.

    Args:
        checkpoint: Of which positions are committed causally.
        prompts: Ids.
        longest: Tokens, the end among them.
        temperature: Of sampling; 0 takes the likeliest.
        rng: Draws.
    """
    model, ends = checkpoint.model, checkpoint.dialect.ends
    dtype = model.embed_tokens.weight.dtype
    caches = [KVCache(model.config, len(p) + longest, dtype) for p in prompts]
    out: list[list[int]] = [[] for _ in prompts]
    fed = [list(prompt) for prompt in prompts]
    going = list(range(len(prompts)))
    for _ in range(longest):
        ids = torch.tensor([token for at in going for token in fed[at]])
        rows = [Rows(caches[at], len(fed[at]), len(fed[at])) for at in going]
        hidden = model.packed(ids, rows)
        lasts = torch.tensor([len(fed[at]) for at in going]).cumsum(0) - 1
        chosen = _drawn(model.logits(hidden[lasts]).float(), temperature, rng)
        for at, token in zip(going, chosen, strict=True):
            caches[at].commit(len(fed[at]))
            out[at].append(token)
            fed[at] = [token]
        going = [at for at in going if out[at][-1] not in ends]
        if not going:
            break
    return [tokens[:-1] if tokens[-1] in ends else tokens for tokens in out]


def _drawn(logits: Tensor, temperature: float, rng: torch.Generator) -> list[int]:
    if not temperature:
        return [int(token) for token in logits.argmax(dim=-1)]
    shares = (logits / temperature).softmax(dim=-1)
    return [int(token) for token in torch.multinomial(shares, 1, generator=rng)[:, 0]]


def talk(checkpoint: Checkpoint, count: int, rng: torch.Generator) -> list[tuple[str, str]]:
    """Questions and answers of a chat model with itself, at most ``count``."""
    dialect = checkpoint.dialect
    drawn = torch.randint(len(OPENINGS), (count,), generator=rng).tolist()
    prompts = []
    for number in drawn:
        whole = dialect.ended([Turn("system", BRIEF), Turn("user", OPENINGS[number])])
        prompts.append(whole[: len(whole) - whole[::-1].index(dialect.end) - 1])
    written = continued(checkpoint, prompts, LONGEST_QUESTION, 0.9, rng)
    pairs = zip(drawn, written, strict=True)
    wholes = [sentences(OPENINGS[number] + dialect.decode(ids)) for number, ids in pairs]
    asked = [text for text in wholes if text]
    if not asked:
        return []
    prompts = [dialect.prompt([Turn("system", BRIEF), Turn("user", text)]) for text in asked]
    answers = continued(checkpoint, prompts, LONGEST_ANSWER, 0.0, rng)
    texts = [sentences(dialect.decode(ids)) for ids in answers]
    return [(said, text) for said, text in zip(asked, texts, strict=True) if text]


def sentences(text: str) -> str:
    """The whole sentences at the beginning of a text that can be spoken; "" for none."""
    found = re.match(r"[\w ,.;:!?'\"()%$&/–—-]*[.!?]", text.strip())
    return found[0] if found else ""


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and append dialogues until the time is over.

    Raises:
        SystemExit: What was asked for cannot be done, 2.
    """
    parser = argparse.ArgumentParser(
        prog="dlm.train.rehearse",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--init", type=Path, required=True, help="directory of the chat model")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    parser.add_argument("--minutes", type=float, required=True, help="how long")
    parser.add_argument("--batch", type=int, default=32, help="dialogues at a time")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--seed", type=int, default=1, help="other dialogues for another")
    options = parser.parse_args(arguments)
    prepare(options.threads)
    try:
        dtype = torch.bfloat16 if bfloat16_is_fast() else torch.float32
        checkpoint = load_checkpoint(options.init, dtype, "cpu")
        rng = torch.Generator().manual_seed(options.seed)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        began, count = time.monotonic(), 0
        while time.monotonic() - began < 60 * options.minutes:
            for said, text in talk(checkpoint, options.batch, rng):
                messages = (
                    {"role": "user", "content": said},
                    {"role": "assistant", "content": text},
                )
                append_json(options.out, {"messages": list(messages)})
                count += 1
            print(f"{count} dialogues, {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
