"""The deployments: ingresses that hold conversations, and engines, ears and voices they share."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from ray import serve
from ray.serve.deployment import Application, Deployment
from ray.serve.handle import DeploymentHandle
from starlette.types import ASGIApp

from voice.cluster.remote_parts import EarsFacts, ModelFacts, VoiceFacts, remote_loaders
from voice.cluster.sealed_keys import SealedKeys
from voice.config import Config, load_config, load_team, secret
from voice.config.cluster import ReplicasConfig
from voice.dialogue.team import Team
from voice.errors import ConfigError
from voice.hearing.asr.domain import Domain
from voice.hearing.asr.whisper import Decoded, WhisperRecognizer
from voice.llm.base import ModelEvent, Prompt
from voice.llm.embedded import load_embedded
from voice.server.app import build_app
from voice.session.resources import Resources, warm_up
from voice.speech.tts import installed_voices, make_synthesizer
from voice.tools import Toolbox
from voice.types import Samples, Segment, SpeechChunk

_NAME = "quicksilver"
_HELD = 1000
"""Requests that a replica accepts at once; it limits its conversations itself."""


class Engine:
    """The language model, which batches the requests of all ingresses."""

    def __init__(self, config: Config) -> None:
        self._model, _ = load_embedded(config.llm)
        agent, *others = load_team(config.agent)
        apart = config.tools.model_copy(update={"database": ":memory:"})
        warm_up(self._model, Toolbox(apart, config.turn), Team((agent, *others)))

    def facts(self) -> ModelFacts:
        """What a client has to know of the model before the first prompt."""
        return ModelFacts(self._model.name, self._model.limits)

    async def answer(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        """See `ReplyModel.answer`."""
        async with aclosing(self._model.answer(prompt)) as events:
            async for event in events:
                yield event

    async def end_of_message(self, prompt: Prompt) -> float | None:
        """See `ReplyModel.end_of_message`."""
        return await self._model.end_of_message(prompt)


class Ears:
    """The recogniser."""

    def __init__(self, config: Config) -> None:
        self._whisper = WhisperRecognizer(config.asr.whisper)

    def facts(self) -> EarsFacts:
        """What a client has to know of the recogniser before the first word."""
        whisper = self._whisper
        return EarsFacts(whisper.config, whisper.languages, whisper.translates, whisper.decode_s)

    async def decode(
        self,
        audio: Samples,
        beam_size: int,
        domain: Domain | None,
        language: str,
        translate: bool,
        times: bool,
    ) -> Decoded:
        """See `WhisperRecognizer.decode`; word times are only found if ``times`` is set."""

        def decode() -> Decoded:
            repair = self._whisper.repair(domain) if domain else None
            found = self._whisper.decode(audio, beam_size, repair, language, translate)
            # The function that finds them cannot leave this process.
            return replace(found, find_words=partial(tuple, found.find_words() if times else ()))

        return await asyncio.to_thread(decode)


class Voice:
    """The voices."""

    def __init__(self, config: Config) -> None:
        self._own, _ = make_synthesizer(config.tts)
        self._voices = installed_voices(config.tts, self._own)

    def facts(self, name: str = "") -> VoiceFacts:
        """The name and rate of a voice; without a name, those of the configured voice."""
        voice = self._voices.of(name) or self._own
        return VoiceFacts(voice.name, voice.sample_rate_hz)

    def names(self) -> tuple[str, ...]:
        """The names of all voices."""
        return self._voices.names

    async def synthesize(
        self, name: str, segment: Segment, speed: float
    ) -> AsyncGenerator[SpeechChunk, None]:
        """See `Synthesizer.synthesize`."""
        chunks = (self._voices.of(name) or self._own).synthesize(segment, speed)
        while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
            yield chunk


class Ingress:
    """The application, with the conversations it holds."""

    def __init__(
        self,
        config: Config,
        engine: DeploymentHandle,
        ears: DeploymentHandle,
        voice: DeploymentHandle,
        key: str,
    ) -> None:
        self._config = config
        self._key = key
        self._loaders = remote_loaders(engine, ears, voice)

    async def __serve_build_asgi_app__(self) -> ASGIApp:
        resources = await asyncio.to_thread(Resources.load, self._config, self._loaders)
        return build_app(resources, self._config, ephemeral=SealedKeys(self._key))


def runs() -> bool:
    """Whether a cluster is running that takes calls."""
    return _NAME in serve.status().applications


def deploy(config: Config) -> None:
    """Let a configuration, and the code as it is now, take all new calls.

    Calls under way keep their ingress and the parts behind it. Those end with the last of these
    calls, or after the grace period that they were started with; only then does this return.

    Raises:
        RuntimeError: A part cannot be started; what ran before still takes the calls, and the new
            parts are gone.
    """
    earlier = [name for name in serve.status().applications if name.startswith(f"{_NAME}-")]
    version = secrets.token_hex(4)
    parts = [
        serve.RunTarget(part, f"{_NAME}-{name}-{version}", route_prefix=None)
        for name, part in _parts(config).items()
    ]
    trial = f"{_NAME}-trial-{version}"
    try:
        handles = serve.run_many(parts)
        if runs():
            # Ray would no longer replace an ingress of before that dies, once their update failed.
            one = config.cluster.ingress.model_copy(update={"least": 1, "most": 1})
            serve.run(_ingress(config, one, *handles), name=trial, route_prefix=None)
            serve.delete(trial)
        serve.run(_ingress(config, config.cluster.ingress, *handles), name=_NAME)
    except RuntimeError as error:
        begun = [trial, *(part.name for part in parts)]
        why = _faults([*begun, _NAME])
        for name in begun:
            serve.delete(name)
        raise RuntimeError(f"{error} {why}") from error
    for name in earlier:
        serve.delete(name)


def _faults(applications: Iterable[str]) -> str:
    """The errors for which deployments of applications were not started."""
    found = serve.status().applications
    told = (
        deployment.message.splitlines()[-1]
        for name in applications
        if name in found
        for deployment in found[name].deployments.values()
        if deployment.status == "DEPLOY_FAILED" and deployment.message
    )
    return "; ".join(told)


def application(config: Config) -> Application:
    """Everything as one application, whose parts Ray replaces one by one.

    Raises:
        ConfigError: As for `check`.
    """
    check(config)
    return _ingress(config, config.cluster.ingress, *_parts(config).values())


def from_arguments(arguments: dict[str, str]) -> Application:
    """For ``serve run voice.cluster.deployments:from_arguments config=FILE``."""
    return application(load_config(arguments.get("config"), []))


def check(config: Config) -> None:
    """Refuse options that a cluster does not support.

    Raises:
        ConfigError: The configuration has such an option.
    """
    several, twilio = config.cluster.ingress.most > 1, "twilio" in config.telephony.doors
    for option, wrong in (
        ("llm.engine", config.llm.engine == "remote"),
        ("asr.engine", config.asr.engine == "sphinx"),
        ("compare.variants", bool(config.compare.variants)),
        ("telephony.audiosocket_port", bool(config.telephony.audiosocket_port)),
        # Requests about one call would reach different ingresses.
        ("telephony.doors: twilio beside cluster.ingress.most above 1", several and twilio),
    ):
        if wrong:
            raise ConfigError(f"{option}: a cluster does not have that")


def _parts(config: Config) -> dict[str, Application]:
    """The parts behind the ingresses, in the order in which `Ingress` takes them."""
    kinds = (
        (Engine, config.cluster.engine),
        (Ears, config.cluster.ears),
        (Voice, config.cluster.voice),
    )
    made = (_deployment(part, replicas, config) for part, replicas in kinds)
    return {part.name: part.bind(config) for part in made}


def _ingress(
    config: Config, replicas: ReplicasConfig, *parts: Application | DeploymentHandle
) -> Application:
    # With a configured key, ephemeral keys outlast a replacement of the ingresses.
    key = secret(config.server.api_key_env) or secrets.token_hex(32)
    # Ray gets the application from a method of the class, which has its handles by then.
    conversations = serve.ingress()(Ingress)
    return _deployment(conversations, replicas, config).bind(config, *parts, key)


def _deployment(part: type[Any], replicas: ReplicasConfig, config: Config) -> Deployment:
    made: Deployment = serve.deployment(
        name=part.__name__.lower(),
        max_ongoing_requests=_HELD,
        graceful_shutdown_timeout_s=config.cluster.drain_s,
        # Old replicas take calls until all new ones do, and none from then on.
        max_surge_percent=100,
        rolling_update_percentage=1.0,
        ray_actor_options={"num_cpus": replicas.cpus, "num_gpus": replicas.gpus},
        autoscaling_config={
            "min_replicas": replicas.least,
            "max_replicas": replicas.most,
            "target_ongoing_requests": replicas.ongoing,
        },
    )(part)
    return made
