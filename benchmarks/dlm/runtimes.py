"""Runtimes that a float32 module can be given to; each is left out where it is not installed.

None of them is a dependency of the project.
"""

from __future__ import annotations

import copy
import importlib
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.dlm.pure_step import in_8_bits

Run = Callable[..., Tensor]
Make = Callable[[nn.Module, tuple[Tensor, ...], int], Run]
"""Of a module, arguments to try it with, and a number of threads."""


def ours(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
    """`dlm.network.int8`."""
    return in_8_bits(module)


def torch_dynamic(engine: str) -> Make:
    """Dynamic quantisation of torch by one of its engines."""

    def make(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
        from torch.ao.quantization import quantize_dynamic

        torch.backends.quantized.engine = engine
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = quantize_dynamic(copy.deepcopy(module), {nn.Linear}, torch.qint8)  # type: ignore[no-untyped-call]
        run: Run = made
        return run

    return make


def torchao(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
    """Torchao's dynamic int8, as torch runs it eagerly."""
    api: Any = importlib.import_module("torchao.quantization")
    made = copy.deepcopy(module)
    api.quantize_(made, api.Int8DynamicActivationInt8WeightConfig())
    return made


def compiled(make: Make | None) -> Make:
    """`torch.compile` of the module, or of what another maker makes of it."""

    def made(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
        inner = copy.deepcopy(module) if make is None else make(module, arguments, threads)
        run: Run = torch.compile(inner, dynamic=False)
        return run

    return made


def onnx(int8: bool) -> Make:
    """ONNX Runtime, in float32 or with its dynamic int8."""

    def make(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
        runtime: Any = importlib.import_module("onnxruntime")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "step.onnx"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.onnx.export(module, arguments, str(file), dynamo=False, opset_version=17)
            if int8:
                quantization: Any = importlib.import_module("onnxruntime.quantization")
                smaller = file.with_name("int8.onnx")
                quantization.quantize_dynamic(file, smaller, per_channel=True)
                file = smaller
            options = runtime.SessionOptions()
            options.intra_op_num_threads = threads
            options.log_severity_level = 3
            # Its threads would spin while others have their turn.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            session = runtime.InferenceSession(file.read_bytes(), options)
        names = [one.name for one in session.get_inputs()]

        def run(*given: Tensor) -> Tensor:
            fed = {name: x.numpy() for name, x in zip(names, given, strict=True)}
            return torch.from_numpy(session.run(None, fed)[0])

        return run

    return make


def openvino(int8: str) -> Make:
    """OpenVINO in float32, with int8 weights, or with int8 sums calibrated on the arguments."""

    def make(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
        ov: Any = importlib.import_module("openvino")
        made = ov.convert_model(module, example_input=arguments)
        for port, given in zip(made.inputs, arguments, strict=True):
            port.get_node().set_partial_shape(ov.PartialShape(list(given.shape)))
        made.validate_nodes_and_infer_types()
        if int8:
            nncf: Any = importlib.import_module("nncf")
            if int8 == "weights":
                made = nncf.compress_weights(made, mode=nncf.CompressWeightsMode.INT8_SYM)
            else:
                fed = nncf.Dataset([[x.numpy() for x in arguments]])
                transformer = nncf.ModelType.TRANSFORMER
                made = nncf.quantize(made, fed, model_type=transformer, subset_size=1)
        hints = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
        # Its CPU plug-in would else take bfloat16, where the processor has it.
        hints["INFERENCE_PRECISION_HINT"] = "f32"
        request = ov.Core().compile_model(made, "CPU", hints).create_infer_request()

        def run(*given: Tensor) -> Tensor:
            return torch.from_numpy(request.infer([x.numpy() for x in given])[0])

        return run

    return make


def plain(module: nn.Module, arguments: tuple[Tensor, ...], threads: int) -> Run:
    """Torch in float32."""
    return module


MAKERS: dict[str, Make] = {
    "float32": plain,
    "int8 (dlm/network/int8.py)": ours,
    "torch dynamic int8, fbgemm": torch_dynamic("fbgemm"),
    "torch dynamic int8, onednn": torch_dynamic("onednn"),
    "torch dynamic int8, x86": torch_dynamic("x86"),
    "torchao int8": torchao,
    "onnxruntime float32": onnx(int8=False),
    "onnxruntime int8": onnx(int8=True),
    "openvino float32": openvino(""),
    "openvino int8 weights": openvino("weights"),
    "openvino int8": openvino("sums"),
    "torch.compile float32": compiled(None),
    "torch.compile int8 (dlm/network/int8.py)": compiled(ours),
    "torch.compile torchao int8": compiled(torchao),
}

SLOW = frozenset(name for name in MAKERS if name.startswith(("torch.compile", "openvino int8")))
"""Making these takes a minute each."""
