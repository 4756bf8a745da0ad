"""The training loop: bounded by minutes, resumable, told apart by the share of time gone by."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from dlm.model import Transformer
from dlm.template import Encoded
from dlm.train.config import TrainConfig
from dlm.train.objective import ar_step, collate, joint_step
from dlm.weights import save_model

LOG_STEPS = 20
STATE = "state.pt"


class Run:
    """A training run in a directory: weights, optimisers, how far it has come.

    Attributes:
        elapsed_s: Training time over all invocations.
        step: Optimiser steps.
    """

    def __init__(self, config: TrainConfig, directory: Path) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.directory = directory
        self.model = initialised(Transformer(config.model())).to(config.device)
        self.optimizers = optimizers(self.model, config)
        self.elapsed_s = 0.0
        self.step = 0

    @property
    def share(self) -> float:
        """Share of the total time gone by, at most 1."""
        return min(1.0, self.elapsed_s / (60 * self.config.total_minutes))

    @property
    def phase(self) -> str:
        """``ar`` or ``joint``."""
        return "ar" if self.share < self.config.ar_share else "joint"

    def save(self) -> None:
        """Write what is needed to go on, and the weights alone as a checkpoint."""
        self.directory.mkdir(parents=True, exist_ok=True)
        state = {
            "model": self.model.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "elapsed_s": self.elapsed_s,
            "step": self.step,
            "config": asdict(self.config),
        }
        partial = self.directory / f"{STATE}.partial"
        torch.save(state, partial)
        partial.replace(self.directory / STATE)
        save_model(self.model, self.directory)

    def resume(self) -> bool:
        """Go on from what `save` wrote; returns whether it had.

        Raises:
            RuntimeError: The weights are of another shape than this run's.
        """
        file = self.directory / STATE
        if not file.is_file():
            return False
        state: dict[str, Any] = torch.load(file, map_location=self.config.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.elapsed_s = state["elapsed_s"]
        self.step = state["step"]
        return True

    def train(
        self,
        data: Iterator[list[Encoded]],
        minutes: float,
        report: Callable[[dict[str, float | str]], None],
    ) -> None:
        """Train until this invocation's minutes, the whole run's or the data are over; then save.

        Args:
            data: Batches of dialogues.
            minutes: Bound of this invocation.
            report: Called every `LOG_STEPS` steps with losses and speed.
        """
        rng = np.random.default_rng(self.config.seed + self.step)
        began = last_save = time.monotonic()
        start_s = self.elapsed_s
        seen: dict[str, list[float]] = {}
        tokens, since = 0, began
        while time.monotonic() - began < minutes * 60 and self.share < 1.0:
            batch = next(data, None)
            if batch is None:
                break
            for name, value in self._step(batch, rng).items():
                seen.setdefault(name, []).append(value)
            tokens += sum(len(row.ids) for row in batch)
            now = time.monotonic()
            self.elapsed_s = start_s + now - began
            if self.step % LOG_STEPS == 0:
                report(
                    {
                        "step": self.step,
                        "minutes": round(self.elapsed_s / 60, 2),
                        "phase": self.phase,
                        "tokens_per_s": round(tokens / (now - since)),
                        **{name: round(float(np.mean(v)), 4) for name, v in seen.items()},
                    }
                )
                seen, tokens, since = {}, 0, now
            if now - last_save > self.config.checkpoint_minutes * 60:
                self.save()
                last_save = now
        self.save()

    def _step(self, batch: list[Encoded], rng: np.random.Generator) -> dict[str, float]:
        config = self.config
        rows = collate(batch, config.prompt_weight)
        kind = torch.device(config.device).type
        with torch.autocast(kind, torch.bfloat16, enabled=config.autocast == "bfloat16"):
            ar = self.phase == "ar"
            losses = ar_step(self.model, rows) if ar else joint_step(self.model, rows, rng)
        total = losses["causal"]
        if "denoising" in losses:
            total = total + config.denoising_weight * losses["denoising"]
        total.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = config.rate_at(self.step, self.share)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return {**{name: loss.item() for name, loss in losses.items()}, "norm": norm.item()}


def initialised(model: Transformer) -> Transformer:
    """Normal weights of 0.02, and those that write into the residual stream smaller by depth."""
    depth = 2 * model.config.num_hidden_layers
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            scale = depth**-0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0
            nn.init.normal_(parameter, std=0.02 * scale)
    return model


def optimizers(model: Transformer, config: TrainConfig) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, AdamW for embedding and norms."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.dim() != 2 or "embed" in n]
    return [
        torch.optim.Muon(
            matrices,
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(others, lr=config.learning_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def append_json(file: Path, row: dict[str, float | str]) -> None:
    """Add a line to a log of JSON lines."""
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")
