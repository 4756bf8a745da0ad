from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from kernels import ops, reference


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (torch.zeros(4), r"got shape \(4,\); expected \(N, V\)"),
        (torch.zeros(2, 3, 4), r"got shape \(2, 3, 4\); expected \(N, V\)"),
        (torch.zeros(2, 0), r"got shape \(2, 0\); expected \(N, V\) with V >= 1"),
        (torch.zeros(2, 3, dtype=torch.float64), "got torch.float64; expected float16, bfloat16"),
        (torch.zeros(2, 3, dtype=torch.int64), "got torch.int64; expected float16, bfloat16"),
        (torch.zeros(3, 2).t(), r"got strides \(1, 2\); expected the last one to be 1"),
        (torch.zeros(2, 6)[:, ::2], r"got strides \(6, 2\); expected the last one to be 1"),
    ],
)
def test_confidence_rejects(logits: torch.Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ops.confidence(logits)


def test_confidence_of_no_rows_is_empty(device: torch.device) -> None:
    tokens, probabilities = ops.confidence(torch.zeros(0, 5, device=device))
    assert tokens.shape == probabilities.shape == (0,)
    assert (tokens.dtype, probabilities.dtype) == (torch.int64, torch.float32)


def test_confidence_takes_one_column_of_a_wider_tensor(device: torch.device) -> None:
    tokens, probabilities = ops.confidence(torch.randn(3, 4, device=device)[:, :1])
    assert tokens.tolist() == [0, 0, 0]
    assert probabilities.tolist() == [1.0, 1.0, 1.0]


def test_confidence_agrees_with_the_reference(device: torch.device) -> None:
    logits = torch.randn(7, 500, device=device)
    tokens, probabilities = ops.confidence(logits)
    expected_tokens, expected_probabilities = reference.confidence(logits)
    assert torch.equal(tokens, expected_tokens)
    torch.testing.assert_close(probabilities, expected_probabilities)


def test_ops_work_without_triton(repo_root: Path) -> None:
    program = (
        "import sys; sys.modules['triton'] = None\n"
        "import torch; from kernels import ops; print(ops.confidence(torch.zeros(1, 4))[1].item())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repo_root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0.25"
