"""The training loop: limited by minutes or steps, resumable, scheduled by the share done."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from pickle import UnpicklingError
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dlm.language.template import Encoded
from dlm.language.tokenizer import Mark
from dlm.loading.placement import bfloat16_is_fast
from dlm.loading.weights import save_model
from dlm.network.model import OUTPUTS, Transformer
from dlm.train.averaging import Anchor
from dlm.train.batches import Place, Placed, prefetched
from dlm.train.config import TrainConfig
from dlm.train.data import HELD_OUT_SEED
from dlm.train.low_rank import adapted, fingerprint, is_product, plain_state
from dlm.train.machine import machine
from dlm.train.muon import Float32Muon
from dlm.train.objective import (
    Copies,
    Rows,
    ar_step,
    collate,
    joint_step,
    laid_out,
    noisy_copies,
)
from dlm.train.reporting import Progress, Report, logged, record

LOG_STEPS = 20
STATE = "state.pt"
PREFETCHED = 4
_PLACED_BY = ("seed", "tokens_per_step", "max_length", "joined", "replay", "reasons", "readings")
"""Options that give a place in the data its meaning; a run must resume with the same ones."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOPPING = b"\nstopping after this step; the same again quits at once\n"


@dataclass(frozen=True, slots=True)
class Batch:
    """The input of one step, on the CPU.

    Attributes:
        place: Where in the data the run is after this batch.
        rows: The dialogues.
        copies: Their noisy blocks.
        tokens: Tokens of the dialogues, without padding.
    """

    place: Place
    rows: Rows
    copies: Copies
    tokens: int

    def positions(self, phase: str) -> int:
        """Number of positions that a forward of this phase computes, padding included."""
        return self.rows.ids.numel() + (self.copies.ids.numel() if phase == "joint" else 0)


class Run:
    """A training run in a directory: weights, optimisers, progress.

    Args:
        directory: Created at the first save.
        model: The initial weights; None for random ones.

    Attributes:
        elapsed_s: Training time over all invocations.
        step: Optimiser steps.
        tokens: Tokens of dialogues seen.
        place: Where in the data the run is.
        stopped: Whether `stop` was called.
    """

    def __init__(
        self, config: TrainConfig, directory: Path, model: Transformer | None = None
    ) -> None:
        torch.manual_seed(config.seed)
        if config.autocast == "auto":
            fast = bfloat16_is_fast(config.device)
            config = replace(config, autocast="bfloat16" if fast else "off")
        self.config = config
        self.directory = directory
        made = initialised(Transformer(config.model())) if model is None else model
        self.model = made.to(config.device).train().requires_grad_(True)
        self._frozen: str | None = None
        if config.rank:
            self._frozen = fingerprint(self.model)
            low = config.autocast == "bfloat16"
            adapted(self.model, config.rank, torch.bfloat16 if low else torch.float32)
        self.optimizers = optimizers(self.model, config)
        share = config.initial_share
        self.anchor = Anchor(self.model, share) if share else None
        self.stopped = False
        self.elapsed_s = 0.0
        self.step = 0
        self.tokens = 0
        self.place = Place()
        if config.compiled:
            self.model.compile(dynamic=True)

    @property
    def share(self) -> float:
        """Share of the run that is done, at most 1."""
        return self.config.share(self.elapsed_s, self.step)

    @property
    def phase(self) -> str:
        """``ar`` or ``joint``."""
        return "ar" if self.share < self.config.ar_share else "joint"

    def stop(self) -> None:
        """End `train` after the current step; may be called from any thread or signal handler."""
        self.stopped = True

    def checkpoint_weights(self) -> AbstractContextManager[None]:
        """Within this context the model has the weights that are written to its checkpoint."""
        return self.anchor.applied() if self.anchor else nullcontext()

    def save(self) -> None:
        """Write the state to resume from, and the weights alone as a checkpoint.

        Raises:
            OSError: The state cannot be written, as on a full disk; the last save is kept.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        state = {
            "model": self.model.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "elapsed_s": self.elapsed_s,
            "step": self.step,
            "config": asdict(self.config),
            "tokens": self.tokens,
            "place": [self.place.chunk, self.place.batch],
            "first": self.anchor.state() if self.anchor else None,
            "frozen": self._frozen,
        }
        partial = self.directory / f"{STATE}.partial"
        try:
            torch.save(state, partial)
        except (OSError, RuntimeError) as error:
            partial.unlink(missing_ok=True)
            reason = str(error).partition("\n")[0]
            raise OSError(f"{self.directory / STATE}: cannot be written: {reason}") from error
        partial.replace(self.directory / STATE)
        with self.checkpoint_weights():
            save_model(self.model, self.directory, state=plain_state(self.model))

    def resume(self) -> bool:
        """Resume from what `save` wrote, and return whether there was anything.

        Raises:
            ValueError: The file is damaged, or is from a run with another model, other initial
                weights or other data.
        """
        file = self.directory / STATE
        if not file.is_file():
            return False
        try:
            # Optimisers keep their step counts on the device they load from; reading them from a
            # GPU would stall.
            state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        except (RuntimeError, EOFError, UnpicklingError, struct.error) as error:
            raise ValueError(f"{file}: damaged; without it the run begins anew") from error
        for name in _PLACED_BY:
            was, wanted = state["config"][name], getattr(self.config, name)
            if was != wanted:
                raise ValueError(f"{file}: of a run with {name} = {was}, got {wanted}")
        # Products are changes of the matrices that they were trained beside.
        if self._frozen and state.get("frozen") not in (None, self._frozen):
            raise ValueError(
                f"{file}: of a run that began with other weights; expected another --out"
            )
        try:
            self.model.load_state_dict(state["model"])
        except RuntimeError as error:
            message = f"{file}: of a run of another shape; expected another --out"
            raise ValueError(message) from error
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            given = [{**group} for group in optimizer.param_groups]
            optimizer.load_state_dict(saved)
            # The saved settings are those of the invocation before; only its moments are resumed.
            for group, own in zip(optimizer.param_groups, given, strict=True):
                group.update(own)
        self.elapsed_s = state["elapsed_s"]
        self.step = state["step"]
        self.tokens = state["tokens"]
        self.place = Place(*state["place"])
        if self.anchor:
            self.anchor.load(state["first"])
        return True

    def train(
        self,
        data: Iterator[Placed],
        minutes: float,
        report: Callable[[Report], None],
        heldout: Sequence[list[Encoded]] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Train until a limit is reached, the data end or `stop` is called; then save.

        Args:
            data: Batches of dialogues from `place` on.
            minutes: Limit of this invocation; the run's own limits apply as well.
            report: Called every `LOG_STEPS` steps with losses and speed.
            heldout: Batches to evaluate on, every `evaluate_minutes`.
            clock: Returns seconds; `time.process_time` makes a run on one thread independent of
                the machine's other work.

        Raises:
            FloatingPointError: A loss is not finite; the last save is kept.
        """
        batches = self._batches(data)
        if torch.device(self.config.device).type == "cuda":
            batches = prefetched(batches, PREFETCHED)
        # The first batch has to wait for the corpora to be read, which is not training time.
        batch = next(batches, None)
        began = last_save = last_evaluation = clock()
        start_s = self.elapsed_s
        evaluate_s = self.config.evaluate_minutes * 60
        meter = Meter(self.config, self.model)
        while batch and clock() - began < minutes * 60 and self.share < 1.0 and not self.stopped:
            meter.add(self._step(batch), batch, self.phase)
            now = clock()
            self.elapsed_s = start_s + now - began
            if self.step % LOG_STEPS == 0:
                row: Report = {"step": self.step, "minutes": round(self.elapsed_s / 60, 2)}
                row |= {"phase": self.phase, **meter.read()}
                if heldout and 0 < evaluate_s <= now - last_evaluation:
                    row |= self.evaluate(heldout)
                    last_evaluation = now
                report(row)
            if now - last_save > self.config.checkpoint_minutes * 60:
                meter.check()
                self.save()
                last_save = now
            batch = None if self.stopped else next(batches, None)
        meter.check()
        self.save()

    def _batches(self, data: Iterator[Placed]) -> Iterator[Batch]:
        for step, (place, dialogues) in enumerate(data, start=self.step):
            yield self._batch(place, dialogues, np.random.default_rng((self.config.seed, step)))

    def _batch(self, place: Place, dialogues: list[Encoded], rng: np.random.Generator) -> Batch:
        config = self.config
        weights = config.reading_weight, config.opening_weight
        if config.joined:
            rows = laid_out(dialogues, config.prompt_weight, *weights)
        else:
            rows = collate(dialogues, config.prompt_weight, config.pad_to, *weights)
        copies = noisy_copies(rows, config.block_size, rng, config.pad_to)
        return Batch(place, rows, copies, int((rows.ids != Mark.PAD).sum()))

    def _losses(self, batch: Batch, phase: str) -> dict[str, Tensor]:
        config = self.config
        kind = torch.device(config.device).type
        with torch.autocast(kind, torch.bfloat16, enabled=config.autocast == "bfloat16"):
            if phase == "ar":
                return ar_step(self.model, batch.rows)
            return joint_step(
                self.model,
                batch.rows,
                batch.copies,
                sharpen=config.uncertainty_weight > 0,
            )

    def _step(self, batch: Batch) -> dict[str, Tensor]:
        config = self.config
        losses = self._losses(batch, self.phase)
        weights = {"denoising": config.denoising_weight, "uncertainty": config.uncertainty_weight}
        total = sum((weights.get(n, 1.0) * loss for n, loss in losses.items()), torch.tensor(0.0))
        total.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = config.rate_at(self.step, self.share) * group["share"]
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.tokens += batch.tokens
        self.place = batch.place
        return {**{name: loss.detach() for name, loss in losses.items()}, "norm": norm}

    @torch.no_grad()
    def evaluate(self, heldout: Sequence[list[Encoded]]) -> Report:
        """Mean losses of the checkpoint's weights on held-out batches, all with seeded noise."""
        seen: dict[str, list[float]] = {}
        with self.checkpoint_weights():
            for number, dialogues in enumerate(heldout):
                rng = np.random.default_rng((HELD_OUT_SEED, number))
                batch = self._batch(self.place, dialogues, rng)
                for name, loss in self._losses(batch, "joint").items():
                    seen.setdefault(f"heldout_{name}", []).append(float(loss))
        return {name: round(float(np.mean(values)), 4) for name, values in seen.items()}


class Meter:
    """Collects losses and speed between two reports; losses stay on the device until then."""

    def __init__(self, config: TrainConfig, model: Transformer) -> None:
        self._peak = config.peak_tflops
        self._parameters = sum(p.numel() for p in model.parameters())
        self._clear()

    def _clear(self) -> None:
        self._seen: dict[str, list[Tensor]] = {}
        self._tokens = self._positions = 0
        self._since = time.monotonic()

    def add(self, losses: dict[str, Tensor], batch: Batch, phase: str) -> None:
        """Add a step."""
        for name, value in losses.items():
            self._seen.setdefault(name, []).append(value)
        self._tokens += batch.tokens
        self._positions += batch.positions(phase)

    def check(self) -> dict[str, float]:
        """Means of the losses since the last report.

        Raises:
            FloatingPointError: One is not finite.
        """
        means = {n: round(float(torch.stack(v).mean()), 4) for n, v in self._seen.items()}
        for name, mean in means.items():
            if not np.isfinite(mean):
                raise FloatingPointError(f"{name}: got {mean}, expected a number")
        return means

    def read(self) -> Report:
        """Report what came since the last report, and start over.

        Returns:
            Means of the losses, tokens of dialogues per second and, if the machine's peak is known,
            the share of it in use, counting 6 operations per parameter and position.

        Raises:
            FloatingPointError: A mean is not finite.
        """
        means = self.check()
        spent_s = time.monotonic() - self._since
        report: Report = {"tokens_per_s": round(self._tokens / spent_s)}
        if self._peak:
            done = 6 * self._parameters * self._positions / spent_s
            report["utilisation"] = round(done / (self._peak * 1e12), 4)
        self._clear()
        return {**report, **means}


@contextmanager
def stopping(run: Run) -> Iterator[list[int]]:
    """Let SIGINT and SIGTERM stop a run after its current step, and a second one at once.

    Before this invocation's first step there is nothing to save, so the first signal ends the
    process. Outside the main thread, which alone may handle signals, nothing changes.

    Yields:
        A list that is empty until a signal comes, and then holds the exit status: 128 plus the
        signal's number.
    """
    came: list[int] = []
    first_step = run.step

    def handle(number: int, frame: FrameType | None) -> None:
        if came or run.step == first_step:
            raise SystemExit(128 + number)
        came.append(128 + number)
        run.stop()
        # Not print: the signal may come in the middle of a write to Python's own streams.
        os.write(2, _STOPPING)

    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handle) for number in SIGNALS if main}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def supervised(
    run: Run,
    data: Iterator[Placed],
    minutes: float,
    heldout: Sequence[list[Encoded]],
    source: Mapping[str, Any],
) -> int:
    """Call `Run.train`, show and log its reports, handle signals and record the run's `facts`.

    Returns:
        128 plus the number of the signal that stopped the run; 0 for none.
    """
    with stopping(run) as came:
        with Progress(run.config, minutes) as progress:
            run.train(data, minutes, logged(run.directory, progress), heldout)
        record(run.directory, facts(run, source))
    return came[0] if came else 0


def facts(run: Run, source: Mapping[str, Any]) -> dict[str, Any]:
    """What ``run.json`` says about a run; ``source`` describes its data."""
    return {
        "config": asdict(run.config),
        "machine": machine(),
        "data": source,
        "step": run.step,
        "minutes": run.elapsed_s / 60,
        "tokens": run.tokens,
    }


def initialised(model: Transformer) -> Transformer:
    """Draw matrices with deviation 0.02, scaled down by depth if they write to the residual."""
    depth = 2 * model.config.num_hidden_layers
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            scale = depth**-0.5 if name.endswith(OUTPUTS) else 1.0
            nn.init.normal_(parameter, std=0.02 * scale)
    return model


def optimizers(model: Transformer, config: TrainConfig) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for everything else that learns.

    Each parameter group has a ``share``, a factor on the run's learning rate.
    """
    matrices: list[nn.Parameter] = []
    embedding: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        if "embed" in name:
            embedding.append(parameter)
        else:
            plain = parameter.dim() == 2 and not is_product(name)
            (matrices if plain else others).append(parameter)
    parts = ((embedding, config.embedding_rate), (others, 1.0))
    groups = [{"params": part, "share": share} for part, share in parts if part]
    adamw = torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.95), weight_decay=0.0)
    if not matrices:
        return [adamw]
    muon = torch.optim.Muon if bfloat16_is_fast(config.device) else Float32Muon
    return [
        muon(
            [{"params": matrices, "share": 1.0}],
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            adjust_lr_fn="match_rms_adamw",
        ),
        adamw,
    ]
