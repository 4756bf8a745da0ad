"""LLaDA2's forward, written as plainly as it can be: row by row, expert by expert, no cache.

It reads the checkpoint's own names and shares no code with `dlm`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

Weights = dict[str, Tensor]


def make(raw: dict[str, Any], seed: int = 5) -> Weights:
    """Random weights under the names of a released checkpoint."""
    generator = torch.Generator().manual_seed(seed)
    hidden, size = raw["hidden_size"], raw["head_dim"]
    heads, kv_heads = raw["num_attention_heads"], raw["num_key_value_heads"]

    def matrix(rows: int, columns: int) -> Tensor:
        return 0.25 * torch.randn(rows, columns, generator=generator)

    def scale(length: int) -> Tensor:
        return 1 + 0.2 * torch.randn(length, generator=generator)

    def mlp(prefix: str, width: int) -> Weights:
        return {
            f"{prefix}.gate_proj.weight": matrix(width, hidden),
            f"{prefix}.up_proj.weight": matrix(width, hidden),
            f"{prefix}.down_proj.weight": matrix(hidden, width),
        }

    out = {
        "model.word_embeddings.weight": matrix(raw["vocab_size"], hidden),
        "model.norm.weight": scale(hidden),
        "lm_head.weight": matrix(raw["vocab_size"], hidden),
    }
    for number in range(raw["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        out |= {
            f"{layer}.input_layernorm.weight": scale(hidden),
            f"{layer}.post_attention_layernorm.weight": scale(hidden),
            f"{layer}.attention.query_key_value.weight": matrix(
                (heads + 2 * kv_heads) * size, hidden
            ),
            f"{layer}.attention.query_layernorm.weight": scale(size),
            f"{layer}.attention.key_layernorm.weight": scale(size),
            f"{layer}.attention.dense.weight": matrix(hidden, heads * size),
        }
        if raw["use_bias"]:
            out[f"{layer}.attention.dense.bias"] = scale(hidden)
        if number < raw["first_k_dense_replace"]:
            out |= mlp(f"{layer}.mlp", raw["intermediate_size"])
            continue
        width = raw["moe_intermediate_size"]
        out[f"{layer}.mlp.gate.weight"] = matrix(raw["num_experts"], hidden)
        out[f"{layer}.mlp.gate.expert_bias"] = 0.3 * torch.randn(
            raw["num_experts"], generator=generator
        )
        out |= mlp(f"{layer}.mlp.shared_experts", width * raw["num_shared_experts"])
        for expert in range(raw["num_experts"]):
            out |= mlp(f"{layer}.mlp.experts.{expert}", width)
    return out


def logits(raw: dict[str, Any], weights: Weights, ids: list[int], sees: Tensor) -> Tensor:
    """(T, V) of ids under a mask (T, T), true where a position may look."""
    stream = [weights["model.word_embeddings.weight"][token] for token in ids]
    eps = raw["rms_norm_eps"]
    for number in range(raw["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        normed = [norm(x, weights[f"{layer}.input_layernorm.weight"], eps) for x in stream]
        heard = attention(raw, weights, f"{layer}.attention", normed, sees)
        stream = [x + y for x, y in zip(stream, heard, strict=True)]
        for row, x in enumerate(stream):
            y = norm(x, weights[f"{layer}.post_attention_layernorm.weight"], eps)
            dense = number < raw["first_k_dense_replace"]
            said = mlp(weights, f"{layer}.mlp", y) if dense else mixture(raw, weights, layer, y)
            stream[row] = x + said
    last = [norm(x, weights["model.norm.weight"], eps) for x in stream]
    return torch.stack([weights["lm_head.weight"] @ x for x in last])


def norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x / math.sqrt(float((x * x).mean()) + eps) * weight


def mlp(weights: Weights, prefix: str, x: Tensor) -> Tensor:
    gate = weights[f"{prefix}.gate_proj.weight"] @ x
    up = weights[f"{prefix}.up_proj.weight"] @ x
    return weights[f"{prefix}.down_proj.weight"] @ (gate / (1 + torch.exp(-gate)) * up)


def turned(raw: dict[str, Any], x: Tensor, position: int) -> Tensor:
    """Pairs (i, i + R / 2) of the first R numbers turned by their own speeds."""
    size = int(raw["head_dim"] * raw["partial_rotary_factor"])
    half, out = size // 2, x.clone()
    for i in range(half):
        angle = position * raw["rope_theta"] ** (-2 * i / size)
        a, b = x[i], x[i + half]
        out[i] = a * math.cos(angle) - b * math.sin(angle)
        out[i + half] = b * math.cos(angle) + a * math.sin(angle)
    return out


def attention(
    raw: dict[str, Any], weights: Weights, prefix: str, stream: list[Tensor], sees: Tensor
) -> list[Tensor]:
    heads, kv_heads = raw["num_attention_heads"], raw["num_key_value_heads"]
    size, eps = raw["head_dim"], raw["rms_norm_eps"]
    queries, keys, values = [], [], []
    for position, x in enumerate(stream):
        fused = (weights[f"{prefix}.query_key_value.weight"] @ x).view(-1, size)
        q, k, v = fused[:heads], fused[heads : heads + kv_heads], fused[heads + kv_heads :]
        queries.append(
            [
                turned(raw, norm(h, weights[f"{prefix}.query_layernorm.weight"], eps), position)
                for h in q
            ]
        )
        keys.append(
            [
                turned(raw, norm(h, weights[f"{prefix}.key_layernorm.weight"], eps), position)
                for h in k
            ]
        )
        values.append(list(v))
    out = []
    for position in range(len(stream)):
        mixed = []
        for head in range(heads):
            shared = head // (heads // kv_heads)
            seen = [other for other in range(len(stream)) if sees[position, other]]
            scores = torch.stack(
                [queries[position][head] @ keys[other][shared] / math.sqrt(size) for other in seen]
            )
            weight = torch.exp(scores - scores.max())
            weight = weight / weight.sum()
            mixed.append(sum(w * values[o][shared] for w, o in zip(weight, seen, strict=True)))
        brought = weights[f"{prefix}.dense.weight"] @ torch.cat(mixed)
        out.append(brought + weights.get(f"{prefix}.dense.bias", 0))
    return out


def mixture(raw: dict[str, Any], weights: Weights, layer: str, x: Tensor) -> Tensor:
    """The chosen experts' answers, weighed, and the shared ones'."""
    score = 1 / (1 + torch.exp(-(weights[f"{layer}.mlp.gate.weight"] @ x)))
    biased = score + weights[f"{layer}.mlp.gate.expert_bias"]
    per_group = raw["num_experts"] // raw["n_group"]
    groups = [range(g * per_group, (g + 1) * per_group) for g in range(raw["n_group"])]
    strength = [sum(sorted(float(biased[e]) for e in group)[-2:]) for group in groups]
    ranked = sorted(range(raw["n_group"]), key=lambda g: -strength[g])[: raw["topk_group"]]
    allowed = [expert for group in ranked for expert in groups[group]]
    chosen = sorted(allowed, key=lambda e: -float(biased[e]))[: raw["num_experts_per_tok"]]
    total = sum(float(score[expert]) for expert in chosen)
    out = mlp(weights, f"{layer}.mlp.shared_experts", x)
    for expert in chosen:
        weight = float(score[expert]) / total * raw["routed_scaling_factor"]
        out = out + weight * mlp(weights, f"{layer}.mlp.experts.{expert}", x)
    return out
