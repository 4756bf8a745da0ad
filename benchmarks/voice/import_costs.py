"""What features cost the start of a server that uses none of them, printed as JSON.

Run it as ``python -m benchmarks.voice.import_costs``. It times a feature's modules and packages
while the server's are imported. What they are the first to import counts as theirs, except our own
modules of other rooms.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

FEATURES = {
    "accounts": ("voice.access", "voice.callers", "voice.server.caller_data"),
    "kept conversations, console": ("voice.records", "voice.server.conversations"),
    "telemetry": ("voice.telemetry", "opentelemetry"),
    "metrics": ("voice.metrics", "prometheus_client"),
    "cluster": ("voice.cluster", "ray"),
    "shared store": ("voice.tools.database", "voice.tools.store", "sqlalchemy", "alembic"),
}
_OURS = ("voice", "dlm", "kernels")


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * 4096 / 2**20


@dataclass(slots=True)
class Cost:
    """Processor time, resident memory and number of modules."""

    seconds: float = 0.0
    mib: float = 0.0
    modules: int = 0


class _Costs(importlib.abc.MetaPathFinder):
    """Charges the cost of each imported module to a feature, or to none ("")."""

    def __init__(self) -> None:
        self.spent = {name: Cost() for name in ("", *FEATURES)}
        self._running: list[tuple[str, Cost]] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self, self._payer(name))
        return spec

    def _payer(self, name: str) -> str:
        for feature, parts in FEATURES.items():
            if any(f"{name}.".startswith(f"{part}.") for part in parts):
                return feature
        own = name.partition(".")[0] in _OURS
        return "" if own or not self._running else self._running[-1][0]

    def execute(self, payer: str, loader: importlib.abc.Loader, module: ModuleType) -> None:
        began_s, began_mib = time.process_time(), _resident_mib()
        self._running.append((payer, inner := Cost()))
        try:
            loader.exec_module(module)
        finally:
            self._running.pop()
            seconds, mib = time.process_time() - began_s, _resident_mib() - began_mib
            self._add(self.spent[payer], seconds - inner.seconds, mib - inner.mib)
            if self._running:
                self._add(self._running[-1][1], seconds, mib)

    @staticmethod
    def _add(to: Cost, seconds: float, mib: float) -> None:
        to.seconds, to.mib, to.modules = to.seconds + seconds, to.mib + mib, to.modules + 1


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, costs: _Costs, payer: str) -> None:
        self._loader, self._costs, self._payer = loader, costs, payer

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._costs.execute(self._payer, self._loader, module)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


def main() -> None:
    """Import what the server does, in its order, and print the costs."""
    import voice.serve  # noqa: F401, I001
    import uvicorn  # noqa: F401

    # The server imports with the garbage collector off, too.
    gc.disable()
    sys.meta_path.insert(0, costs := _Costs())
    for name in [one for one in sys.modules if one.partition(".")[0] == "voice"]:
        del sys.modules[name]
    importlib.import_module("voice.server.app")
    importlib.import_module("voice.session.resources")
    del costs.spent[""]
    told = {n: [round(c.seconds, 4), round(c.mib, 2), c.modules] for n, c in costs.spent.items()}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
