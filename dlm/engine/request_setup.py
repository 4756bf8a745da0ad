"""Sets up a request: its prompt over cached keys and values, its plan and its grammar.

Everything here runs on the engine's thread, except `room`, `reasoning_marks`, `with_json_call` and
`matcher`, which any thread may call. This module knows nothing of scheduling, nor of what becomes
of a request once it has started.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from dlm.decoding.block_diffusion import decode_block, decode_full
from dlm.decoding.decoder import Decoder, Plan, Vocabulary
from dlm.decoding.first_token_cache import FirstTokenCache
from dlm.decoding.forwards import Runner, Steps
from dlm.decoding.sampling import Sampling
from dlm.decoding.self_speculative import Aids, decode_causal
from dlm.decoding.tool_likelihood import ToolLikelihoods
from dlm.effort import REASONING, REFINEMENT
from dlm.engine.json_call import JsonCall, json_call, said_texts
from dlm.engine.null_pruning import NullPruning, with_nullable
from dlm.engine.request import Request, RequestJob
from dlm.grammar.answer_rules import AnswerRules
from dlm.grammar.ending_matcher import Closers, EndingMatcher
from dlm.grammar.formats import JsonSchema
from dlm.grammar.matcher import GrammarFactory, Matcher
from dlm.grammar.reasoning_matcher import ReasoningMatcher
from dlm.grammar.said import Accepts, Said, with_said
from dlm.grammar.said_dates import with_days
from dlm.grammar.told_values import among, told_values
from dlm.grammar.tool_choice import ToolChoice
from dlm.kv_cache.prefix import DEFAULT_BYTES, PrefixPool
from dlm.language.chat_format import Dialect, JsonCalls, MarkedCalls, ReasoningMarks
from dlm.language.identifiers import worded
from dlm.language.messages import Answer, Tool
from dlm.language.references import with_definitions
from dlm.language.written_dates import says_relative
from dlm.network.config import ModelConfig

DRAFT_CHARACTERS = 16
"""Characters of a draft that are used for each token that the answer may have."""
MOST_CHECKED = 64
"""Most schemas of a request that are checked against what was said; each check tries every span."""
COLDEST = 1e-6
"""Lower temperatures count as 0: they change no choice, and dividing logits by them may give
infinity."""


class RequestSetup:
    """Sets up the decoding of requests to one checkpoint.

    Attributes:
        prefixes: Keys and values of finished requests.

    Raises:
        ValueError: Model and dialect do not fit together.
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
        self._applies_grammar = runner.applies_grammar
        self._vocabulary = Vocabulary.of(dialect, config.vocab_size)
        self._grammars = GrammarFactory(dialect, config.vocab_size)
        calls = dialect.calls
        marks = (calls.key, calls.value) if isinstance(calls, MarkedCalls) else ()
        self._closers = Closers(config.vocab_size, self._grammars.spell, marks)
        opening = calls.opening if isinstance(calls, JsonCalls) else None
        # The token that opens a call; None if the dialect has none.
        self._opening = calls.call if isinstance(calls, MarkedCalls) else opening
        self._likelihoods = ToolLikelihoods(dialect, runner.cache)
        self._first_tokens = FirstTokenCache(dialect)
        unit = config.block_size if config.commit == "block" else 1
        self.prefixes = PrefixPool(runner.cache, prefix_bytes, unit)

    def with_json_call(self, request: Request) -> tuple[Request, JsonCall | None]:
        """Turn a request for JSON, or for one obligatory tool, into calls with values from texts.

        Returns:
            The request, and the tool that stands for the schema. The tool is None where none can
            stand for it, where the request asks for neither, and where the checkpoint was not
            taught calls. Values in the request's own schemas are still restricted to those that
            were said, where that is possible.
        """
        marked = isinstance(self._dialect.calls, MarkedCalls) and request.verified
        if marked and request.obliged_tool is not None:
            return self._with_obliged(request, request.obliged_tool)
        free = request.tool_choice in ("auto", "none")
        if not (marked and free and isinstance(request.format, JsonSchema)):
            return (self._with_said_values(request) if marked else request), None
        schema, texts = with_definitions(request.format.schema), said_texts(request.turns)
        names = [tool.name for tool in request.tools]
        accepts = self._accepts()
        call = json_call(schema, texts, names, accepts)
        if call is None:
            said = with_said(schema, Said.of(texts), accepts)
            return replace(request, format=JsonSchema(said)), None
        choice = "required" if names and request.tool_choice == "auto" else call.tool.name
        tools = (*request.tools, call.tool)
        return replace(request, tools=tools, tool_choice=choice, format=None, parallel=False), call

    def _with_obliged(self, request: Request, tool: Tool) -> tuple[Request, JsonCall | None]:
        schema, texts = tool.parameters, said_texts(request.turns)
        call = json_call(schema, texts, (), self._accepts(), tool)
        if call is None:
            return request, None
        tools = tuple(call.tool if one.name == tool.name else one for one in request.tools)
        return replace(request, tools=tools, format=None), call

    def _with_said_values(self, request: Request) -> Request:
        """A request whose tools take only dates and enumerated or scaled values that were said."""
        texts, accepts = said_texts(request.turns), self._accepts()
        # Only the model can resolve "tomorrow", if a system message tells it today's date.
        dated = not any(map(says_relative, texts))
        tools = (_with_said_values(tool, texts, dated, accepts) for tool in request.tools)
        return replace(request, tools=tuple(tools))

    def _accepts(self) -> Accepts:
        """`GrammarFactory.accepts` for one request; after `MOST_CHECKED` schemas it says no."""
        left = iter(range(MOST_CHECKED))
        accepts = self._grammars.accepts
        return lambda schema: (lambda value: False) if next(left, None) is None else accepts(schema)

    def room(self, request: Request) -> int:
        """See `Engine.room`."""
        request, _ = self.with_json_call(request)
        prompt = self._dialect.prompt(request.turns, request.tools)
        known = len(prompt) + len(self._dialect.text(request.prefix))
        known += self.reasoning_marks(request) is not None
        return self._config.max_position_embeddings - self._config.block_size - known

    def reasoning_marks(self, request: Request) -> ReasoningMarks | None:
        """The marks around the reasoning before an answer; None if there is no reasoning."""
        wanted = self._config.reasons and request.wants_reasoning
        return self._dialect.reasoning if wanted else None

    def start(
        self, job: RequestJob, matcher: Matcher | None, running_decoders: Iterable[Decoder]
    ) -> tuple[Decoder, Steps[None]]:
        """The decoder of a request, and the steps that decode it under its grammar.

        Keys and values are shared with decoders of other jobs whose prompts begin alike.

        Raises:
            ValueError: The request is too long, or contradicts itself.
        """
        request = job.request
        prompt = [*self._dialect.prompt(request.turns, request.tools), *job.prefix_ids]
        if job.reasoning is not None:
            prompt.append(job.reasoning.opening)
        plan = Plan(
            REFINEMENT[request.effort],
            request.verified,
            request.max_tokens,
            _sampling(request),
            self._earlier(job),
        )
        decoder = self.decoder(prompt, request.max_tokens, running_decoders, job.reasoning)
        steps = self._decoding(decoder, plan, matcher, self._aids(job, plan))
        return decoder, self._learning(job, decoder, steps)

    def decoder(
        self,
        prompt: list[int],
        answer_tokens: int,
        running_decoders: Iterable[Decoder],
        reasoning: ReasoningMarks | None = None,
    ) -> Decoder:
        """A decoder for a prompt of at least one id, over what was cached of that prompt.

        Raises:
            ValueError: The prompt and an answer of ``answer_tokens`` do not fit the context.
        """
        config = self._config
        limit = config.max_position_embeddings
        # A draft may reach up to a block beyond the answer's end.
        capacity = len(prompt) + answer_tokens + config.block_size
        if capacity > limit:
            raise ValueError(
                f"prompt and answer: got {capacity} positions, expected at most {limit}"
            )
        running = ((one.committed, one.cache) for one in running_decoders)
        # If all positions see each other, keys and values of a shared beginning still differ.
        known = prompt if config.commit != "full" else []
        cache = self.prefixes.take(known, capacity, running)
        vocabulary = self._vocabulary
        if reasoning is not None:
            never = tuple(token for token in vocabulary.never if token != reasoning.closing)
            vocabulary = replace(vocabulary, never=never)
        return Decoder(cache, prompt, config.block_size, vocabulary, self._applies_grammar)

    def keep(self, decoder: Decoder) -> None:
        """Keep a decoder's keys and values for later prompts."""
        if self._config.commit != "full":
            self.prefixes.give(decoder.committed, decoder.cache)

    def matcher(self, job: RequestJob) -> Matcher | None:
        """The grammar of an answer; None if the answer is free. Any thread may call this.

        Raises:
            FormatError: A schema or format cannot be expressed as a grammar.
            ValueError: The request contradicts itself.
        """
        request = job.request
        if request.format is not None and not request.verified:
            raise ValueError("format: got one for unverified drafts, which no grammar binds")
        job.rules.callable()
        # Without verification, a grammar would force positions to be decided from left to right.
        free = self._config.commit != "causal" and not (request.tools or request.format)
        if not request.verified or (job.reasoning is None and free):
            return None
        choice = self._tool_choice(job)
        matcher = self._grammars.matcher(self._written(job), choice, request.max_tokens)
        # A prefix may begin with spaces, which the grammar of plain text does not allow.
        text = request.prefix if request.format else request.prefix.lstrip()
        matcher.follow(self._dialect.text(text))
        made_whole = request.format is not None or job.json_call is not None
        if made_whole or job.rules.has_endless:
            # An answer in plain words may be cut at the limit; a call, or JSON, must be completed.
            opening = None if made_whole or job.rules.must_call else self._opening
            matcher = EndingMatcher(matcher, self._closers, request.max_tokens, opening)
        budget = REASONING[request.effort]
        if job.reasoning is None or budget is None:
            return matcher
        return ReasoningMatcher(matcher, job.reasoning, budget)

    def _written(self, job: RequestJob) -> AnswerRules:
        """The rules while the answer is written: values that pruning may remove are required."""
        made = job.json_call
        if made is None or not self._prunes(job):
            return job.rules
        tools = (with_nullable(one) if one == made.tool else one for one in job.rules.tools)
        return replace(job.rules, tools=tuple(tools))

    def _prunes(self, job: RequestJob) -> bool:
        return self._config.reads and _sampling(job.request) is None

    def _tool_choice(self, job: RequestJob) -> ToolChoice | None:
        """Decides whether to call and which tool; None unless a user's message is answered."""
        turns, tools, calls = job.request.turns, job.rules.callable(), self._dialect.calls
        asked = bool(turns) and turns[-1].role == "user" and turns[-1].content.strip()
        if not (self._config.reads and isinstance(calls, MarkedCalls) and asked):
            return None
        names = worded(tool.name for tool in job.rules.tools)
        spelled = {tool.name: self._dialect.text(names[tool.name]) for tool in tools}
        sampled = _sampling(job.request) is not None
        return ToolChoice(calls.call, spelled, sampled) if tools else None

    def _aids(self, job: RequestJob, plan: Plan) -> Aids:
        """Aids for calls; tool likelihoods and pruning need a checkpoint trained for them."""
        turns, calls, tools = job.request.turns, self._dialect.calls, job.rules.callable()
        if not (isinstance(calls, MarkedCalls) and tools and turns):
            return Aids()
        begun = job.reasoning is not None or job.prefix_ids
        first_tokens = () if begun else self._first_tokens.guess(turns)
        greedy = plan.sampling is None
        counted = calls if greedy else None
        if not self._config.reads:
            return Aids(first_tokens=first_tokens, calls=counted)
        gains = partial(self._likelihoods.gains, turns[-1].content, tools)
        pruning = None
        if self._prunes(job):
            texts = job.json_call.texts if job.json_call else None
            pruning = NullPruning(self._dialect, calls, job.rules.tools, texts)
        return Aids(gains, pruning, first_tokens, counted)

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

    def _learning(self, job: RequestJob, decoder: Decoder, steps: Steps[None]) -> Steps[None]:
        """Decode, then remember the answer's first token."""
        yield from steps
        if job.reasoning is None and not job.prefix_ids:
            self._first_tokens.learn(job.request.turns, decoder.progress.tokens)

    def _earlier(self, job: RequestJob) -> tuple[int, ...]:
        request, draft = job.request, job.request.draft
        if draft is None:
            return ()
        if isinstance(draft, str):
            # Text beyond the longest answer would never be proposed, but takes time to encode.
            text = draft[: DRAFT_CHARACTERS * request.max_tokens]
            draft = job.json_call.answer(text) if job.json_call else Answer(text, ())
        return tuple(self._dialect.spell(draft, request.tools))


def _with_said_values(tool: Tool, texts: Sequence[str], dated: bool, accepts: Accepts) -> Tool:
    properties = tool.parameters.get("properties", {})
    definitions = tool.parameters.get("$defs", {})
    made = with_days(properties, tool.required, definitions, texts, accepts) if dated else {}
    for name, value in tool.properties.items():
        if told := told_values(name, value, texts[-1:], accepts):
            made[name] = among(properties[name], definitions, told)
    if not made:
        return tool
    return replace(tool, parameters={**tool.parameters, "properties": {**properties, **made}})


def _sampling(request: Request) -> Sampling | None:
    seed = secrets.randbits(64) if request.seed is None else request.seed
    if 0 <= request.temperature < COLDEST:
        return None
    return Sampling(request.temperature, request.top_p, seed)
