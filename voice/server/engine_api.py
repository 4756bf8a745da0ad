"""The engine's API on the conversations' server, with the same model and access policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.routing import Route

from voice.access.keys import AccessPolicy
from voice.access.origins import AccessDenied
from voice.config.server import ServerConfig
from voice.dictation.editor import MODEL_NAME as DICTATION
from voice.llm.embedded import EmbeddedModel
from voice.metrics import Metrics

if TYPE_CHECKING:
    from voice.llm.base import ReplyModel


class ApiGate:
    """Access to the engine's API, which ephemeral keys do not open."""

    def __init__(self, policy: AccessPolicy, metrics: Metrics) -> None:
        self._policy = policy
        self._metrics = metrics

    def check(self, headers: Mapping[str, str]) -> None:
        """Accept a request.

        Raises:
            ApiError: Host, origin or key is wrong, or a key is missing.
        """
        from dlm.server.errors import ApiError

        try:
            self._policy.check(headers).check_main()
        except AccessDenied as denied:
            self._metrics.refused(denied.code)
            raise ApiError(denied.status, str(denied), denied.code) from denied


def api_routes(
    model: ReplyModel, names: tuple[str, ...], config: ServerConfig, gate: ApiGate, metrics: Metrics
) -> list[Route]:
    """The routes of the engine's API; none if the model is not in this process.

    ``names`` are those that clients use for the model, besides its own.
    """
    if not isinstance(model, EmbeddedModel):
        return []
    from dlm.server.api import Api, Limits, Served
    from dlm.server.description import ModelCard
    from dlm.server.metrics import ApiMetrics
    from voice.server.dictation_api import LONGEST_WORDS, DictationEngine

    limits = Limits(body_bytes=config.max_message_bytes)
    shape = model.engine.model.config
    card = ModelCard(
        (*names, model.name),
        shape.max_position_embeddings,
        limits.answer_tokens,
        reasons=shape.reasons,
    )
    engine = model.engine
    series = ApiMetrics(metrics.registry, lambda: engine.prefixes.nbytes)
    dictation = ModelCard(
        (DICTATION,), LONGEST_WORDS, LONGEST_WORDS, description="What was said, as it was meant",
        generates=False,
    )  # fmt: skip
    beside = (Served(dictation, DictationEngine()),)
    return Api(engine, card, gate, series, limits, beside).routes()
