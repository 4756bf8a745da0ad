"""Sets up a run's process and describes its machine for the record.

torch is imported only where it is needed, since `benchmarks.report` uses this module as well.
"""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs" / "train"

_BOUNDS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64", "LRU_CACHE_CAPACITY": "64"}
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
"""Options of glibc's mallopt."""
_INSTRUCTIONS = {
    "amx_int8": "AMX", "avx512_vnni": "AVX-512 VNNI", "avx512f": "AVX-512",
    "avx_vnni": "AVX2 VNNI", "avx2": "AVX2",
}  # fmt: skip
"""Flag in /proc/cpuinfo → name of its instructions, the widest first."""
_KEPT = {_TRIM_THRESHOLD: 2**31 - 1, _TOP_PAD: 2**28, _MMAP_MAX: 0}


def prepare(threads: int) -> None:
    """Set up the process, before torch has computed anything in it.

    By default oneDNN caches a thousand shapes of matrix products at about half a megabyte each, and
    torch as many again. Batches keep bringing new shapes, and few repeat within a step, so small
    caches cost no time.

    Args:
        threads: torch threads; 0 leaves torch's choice.
    """
    for name, value in _BOUNDS.items():
        os.environ.setdefault(name, value)
    _keep_memory()
    if threads:
        import torch

        torch.set_num_threads(threads)


def _keep_memory() -> None:
    """Have glibc keep freed memory, as the next step needs as much.

    Otherwise it returns every large tensor to the system, and a third of a step is spent getting
    the pages back. Other C libraries are left as they are.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, TypeError):
        return
    for option, value in _KEPT.items():
        mallopt(option, value)


def machine() -> dict[str, Any]:
    """Processor or GPU, cores, versions and the commit that is checked out."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        "cpu": cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "gpu": gpu,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "commit": git("rev-parse", "--short=12", "HEAD"),
        "changes": bool(git("status", "--porcelain", "--untracked-files=no")),
    }


def git(*arguments: str) -> str:
    """Output of a git command in the checkout; "" if git fails or is missing."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def cpu() -> str:
    """The processor's name."""
    return _told("model name") or platform.processor()


def instructions() -> str:
    """The widest instructions available for products of 8-bit numbers; "" if unknown."""
    flags = {*_told("flags").split()}
    known = (name for flag, name in _INSTRUCTIONS.items() if flag in flags)
    return next(known, "")


def _told(key: str) -> str:
    """The value of a key for the first processor in Linux's /proc/cpuinfo; "" without one."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith(key))
    return next(found, "")
