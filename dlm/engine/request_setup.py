"""How a request begins: its prompt over the keys and values that are known, its plan, its grammar.

Belongs to the engine's thread, `room` and `thought` apart, which any may ask. Knows nothing of
rounds, nor of what becomes of a request once it has begun.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from dlm.decoding.argument_pruning import ArgumentPruning
from dlm.decoding.block import decode_block
from dlm.decoding.decoder import Decoder, Plan, Vocabulary
from dlm.decoding.first_token_cache import FirstTokenCache
from dlm.decoding.forwards import Runner, Steps
from dlm.decoding.full import decode_full
from dlm.decoding.sampling import Sampling
from dlm.decoding.self_speculative import Aids, decode_causal
from dlm.decoding.tool_likelihood import ToolLikelihoods
from dlm.effort import REASONING, REFINEMENT
from dlm.engine.request import LiveRequest, Request
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.grammar.reasoning_matcher import ReasoningMatcher
from dlm.grammar.tool_choice import ToolChoice
from dlm.kv_cache.prefix import DEFAULT_BYTES, PrefixPool
from dlm.language.chat_format import Dialect, MarkedCalls, ThoughtMarks
from dlm.language.identifiers import worded
from dlm.language.messages import Answer
from dlm.network.config import ModelConfig

DRAFT_CHARACTERS = 16
"""Characters of a draft that are looked at, for each token that the answer may have."""


class RequestSetup:
    """Sets up the decoding of requests to one checkpoint.

    Args:
        config: Of the model.
        dialect: That it speaks.
        runner: Runs it.
        prefix_bytes: Memory for keys and values of finished requests.

    Attributes:
        prefixes: Those keys and values.

    Raises:
        ValueError: Model and dialect do not fit.
    """

    def __init__(
        self,
        config: ModelConfig,
        dialect: Dialect,
        runner: Runner,
        prefix_bytes: int = DEFAULT_BYTES,
    ) -> None:
        if dialect.size > config.vocab_size:
            raise ValueError(
                f"tokenizer: got {dialect.size} entries, the model has {config.vocab_size}"
            )
        ids = (config.mask_token_id, config.eos_token_id)
        if ids[0] != dialect.mask or ids[1] not in dialect.ends:
            raise ValueError(
                f"mask_token_id, eos_token_id: got {ids}, expected {(dialect.mask, dialect.end)}"
            )
        self._config = config
        self._dialect = dialect
        self._masks = runner.masks
        self._vocabulary = Vocabulary.of(dialect, config.vocab_size)
        self._grammars = GrammarFactory(dialect, config.vocab_size)
        self._readings = ToolLikelihoods(dialect, runner.cache)
        self._openings = FirstTokenCache(dialect)
        unit = config.block_size if config.commit == "block" else 1
        self.prefixes = PrefixPool(runner.cache, prefix_bytes, unit)

    def room(self, request: Request) -> int:
        """Longest answer, in tokens, that the context has room for; below 1 for none.

        Raises:
            ValueError: A role is unknown.
        """
        prompt = self._dialect.prompt(request.turns, request.tools)
        begun = len(self._dialect.text(request.prefix)) + (self.thought(request) is not None)
        config = self._config
        return config.max_position_embeddings - config.block_size - len(prompt) - begun

    def thought(self, request: Request) -> ThoughtMarks | None:
        """Marks of the thought before an answer; None where none is wanted or can be had."""
        return self._dialect.thought if self._config.reasons and request.thinks else None

    def answering(
        self, live: LiveRequest, under_way: Iterable[Decoder]
    ) -> tuple[Decoder, Steps[None]]:
        """Begin to answer a request.

        Args:
            live: The request.
            under_way: Decoders of other jobs, of which this one may know a beginning.

        Returns:
            Its decoder, and the forwards that it wants.

        Raises:
            ValueError: It cannot be answered: too long, or contradictory.
        """
        request = live.request
        if request.format is not None and not request.verified:
            raise ValueError("format: got one for unverified drafts, which no grammar binds")
        prompt = [*self._dialect.prompt(request.turns, request.tools), *live.head]
        if live.thought is not None:
            prompt.append(live.thought.opening)
        live.rules.callable()
        plan = Plan(
            REFINEMENT[request.effort],
            request.verified,
            request.max_tokens,
            _sampling(request),
            self._earlier(request),
        )
        # First, because one that cannot be made must not cost the keys and values that are known.
        matcher = self._matcher(live)
        decoder = self.decoder(prompt, request.max_tokens, under_way, live.thought)
        steps = self._decoding(decoder, plan, matcher, self._aids(live, plan))
        return decoder, self._learned(live, decoder, steps)

    def decoder(
        self,
        prompt: list[int],
        answer_tokens: int,
        under_way: Iterable[Decoder],
        thought: ThoughtMarks | None = None,
    ) -> Decoder:
        """A decoder whose cache holds as much of a prompt as is known.

        Args:
            prompt: Ids, at least one.
            answer_tokens: Longest answer.
            under_way: As `answering`.
            thought: Marks of the thought that goes before the answer, if one does.

        Raises:
            ValueError: The context is too short for that.
        """
        config = self._config
        limit = config.max_position_embeddings
        # A draft may reach a block beyond the answer's end.
        capacity = len(prompt) + answer_tokens + config.block_size
        if capacity > limit:
            raise ValueError(
                f"prompt and answer: got {capacity} positions, expected at most {limit}"
            )
        live = ((one.committed, one.cache) for one in under_way)
        # Where everything sees everything, no beginning is as it was in another prompt.
        known = prompt if config.commit != "full" else []
        cache = self.prefixes.take(known, capacity, live)
        vocabulary = self._vocabulary
        if thought is not None:
            never = tuple(token for token in vocabulary.never if token != thought.closing)
            vocabulary = replace(vocabulary, never=never)
        return Decoder(cache, prompt, config.block_size, vocabulary, self._masks)

    def keep(self, decoder: Decoder) -> None:
        """Keep what a decoder knows for prompts to come."""
        if self._config.commit != "full":
            self.prefixes.give(decoder.committed, decoder.cache)

    def _matcher(self, live: LiveRequest) -> Matcher | None:
        """The grammar of an answer, where one holds."""
        request = live.request
        # Blocks that nothing verifies are decided in any order where no grammar has to hold.
        loose = self._config.commit != "causal" and not (request.tools or request.format)
        if not request.verified or (live.thought is None and loose):
            return None
        matcher = self._grammars.matcher(live.rules, self._names(live))
        matcher.follow(live.head)
        budget = REASONING[request.effort]
        if live.thought is None or budget is None:
            return matcher
        return ReasoningMatcher(matcher, live.thought, budget)

    def _names(self, live: LiveRequest) -> ToolChoice | None:
        """Names of the tools, where the user's words can be read to choose between them."""
        turns, tools, calls = live.request.turns, live.rules.callable(), self._taught_calls()
        asked = bool(turns) and turns[-1].role == "user" and turns[-1].content.strip()
        if calls is None or not asked:
            return None
        names = worded(tool.name for tool in live.rules.tools)
        spelled = {tool.name: self._dialect.text(names[tool.name]) for tool in tools}
        return ToolChoice(calls.call, spelled) if len(tools) > 1 else None

    def _aids(self, live: LiveRequest, plan: Plan) -> Aids:
        """What helps with calls; only a checkpoint that was taught to read requests has a say."""
        turns, calls, tools = live.request.turns, self._dialect.calls, live.rules.callable()
        if not (isinstance(calls, MarkedCalls) and tools and turns):
            return Aids()
        begun = live.thought is not None or live.head
        opening = () if begun else self._openings.likely(turns)
        if not self._config.reads:
            return Aids(opening=opening)
        gains = partial(self._readings.gains, turns[-1].content, tools)
        greedy = plan.sampling is None
        look = ArgumentPruning(self._dialect, calls, live.rules.tools) if greedy else None
        return Aids(gains, look, opening)

    def _taught_calls(self) -> MarkedCalls | None:
        """How calls are spelled by a checkpoint that was taught to read requests."""
        calls = self._dialect.calls
        return calls if self._config.reads and isinstance(calls, MarkedCalls) else None

    def _decoding(
        self,
        decoder: Decoder,
        plan: Plan,
        matcher: Matcher | None,
        aids: Aids,
    ) -> Steps[None]:
        config = self._config
        if config.commit == "block":
            return decode_block(decoder, plan, matcher, config.shift)
        if config.commit == "full":
            return decode_full(decoder, plan, matcher, config.shift)
        return decode_causal(decoder, plan, matcher, aids)

    def _learned(self, live: LiveRequest, decoder: Decoder, steps: Steps[None]) -> Steps[None]:
        """Decode, and remember how the answer began."""
        yield from steps
        if live.thought is None and not live.head:
            self._openings.learn(live.request.turns, decoder.progress.tokens)

    def _earlier(self, request: Request) -> tuple[int, ...]:
        draft = request.draft
        if draft is None:
            return ()
        if isinstance(draft, str):
            # What is longer than any answer is never proposed, and would take long to spell here.
            draft = Answer(draft[: DRAFT_CHARACTERS * request.max_tokens], ())
        return tuple(self._dialect.spell(draft, request.tools))


def _sampling(request: Request) -> Sampling | None:
    seed = secrets.randbits(64) if request.seed is None else request.seed
    if request.temperature == 0:
        return None
    return Sampling(request.temperature, request.top_p, seed)
