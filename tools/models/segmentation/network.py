"""
pyannote/segmentation as an ONNX graph that computes all overlapping windows together, and its LSTMs in integers.

network.py PUBLISHED-MODEL OUTPUT writes the segmentation model of this product.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from graph import Graph

# The constants of src/blocks/grid.ts.
WINDOW_SAMPLES = 80_000
HOP_SAMPLES = 24_300
FRAMES = 293
SPEAKERS = 3

FILTERS = 80
FILTER_SAMPLES = 251
FILTER_SHIFT = 10
POOLED = 3
NORM_EPSILON = 1e-5
LSTM_SIZE = 128
# Numbers of the LSTM weights of each layer in the published graph.
LSTMS = (679, 722, 765, 808)
# Maximum of a signed byte.
GREATEST = 127


def segmentation(published: Path) -> onnx.ModelProto:
    """
    Maps `waveform` [streams, samples] to `activity` [streams × windows, frames, speakers]. A stream of 80,000 samples is one
    window. Each further 24,300 samples add a window that starts 24,300 samples later.
    """
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(published).graph.initializer}
    graph = Graph("segmentation")
    x = _filtered(graph, weights)
    x = _norm(graph, weights, "n0", x)
    for layer in (1, 2):
        x = graph.add("Conv", [x, *(graph.floats(f"c{layer}.{part}", weights[f"c{layer}.{part}"]) for part in ("weight", "bias"))])
        x = _norm(graph, weights, f"n{layer}", _pooled(graph, x))
    x = graph.add("Transpose", [x], perm=[2, 0, 1])
    for layer, number in enumerate(LSTMS):
        x = _lstm(graph, f"lstm{layer}", *(weights[f"onnx::LSTM_{number + part}"] for part in range(3)), x)
    x = graph.add("Transpose", [x], perm=[1, 0, 2])
    for name, number in (("l0", 811), ("l1", 812), ("cl", 813)):
        product = graph.add("MatMul", [x, graph.floats(f"{name}.weight", weights[f"onnx::MatMul_{number}"])])
        x = graph.add("Add", [product, graph.floats(f"{name}.bias", weights[f"{name}.bias"])])
        if name != "cl":
            x = _leaky(graph, x)
    result = (graph.add("Sigmoid", [x]), "activity", ["windows", FRAMES, SPEAKERS])
    return graph.model({"waveform": (TensorProto.FLOAT, ["streams", "samples"])}, result, domains=["com.microsoft"])


@dataclass(frozen=True)
class Windows:
    """Cuts overlapping windows out of streams. `hops` lists the hops of each window, [windows, hops of a window]."""

    hops: str
    HOPS = -(-WINDOW_SAMPLES // HOP_SAMPLES)

    def cut(self, graph: Graph, x: str, before: int, hop: int, size: int) -> str:
        """Maps […, time] to […, windows, time], with `before` dimensions first. The last window may lack a part of its last hop."""
        keep = [0] * before
        missing = self.HOPS * hop - size
        padded = graph.add("Pad", [x, graph.integers(*keep, *keep, 0, missing)])
        hops = graph.add("Reshape", [padded, graph.integers(*keep, -1, hop)])
        windows = graph.add("Gather", [hops, self.hops], axis=before)
        joined = graph.add("Reshape", [windows, graph.integers(*keep, 0, self.HOPS * hop)])
        return graph.add("Slice", [joined, graph.integers(0), graph.integers(size), graph.integers(before + 1)])


def _windows(graph: Graph) -> Windows:
    samples = graph.add("Gather", [graph.add("Shape", ["waveform"]), graph.scalar(1)])
    more = graph.add("Div", [graph.add("Sub", [samples, graph.scalar(WINDOW_SAMPLES)]), graph.scalar(HOP_SAMPLES)])
    count = graph.add("Add", [more, graph.scalar(1)])
    first = graph.add("Unsqueeze", [graph.add("Range", [graph.scalar(0), count, graph.scalar(1)]), graph.integers(1)])
    return Windows(graph.add("Add", [first, graph.integers(*range(Windows.HOPS))]))


def _filtered(graph: Graph, weights: dict[str, np.ndarray]) -> str:
    """
    The published model normalizes each window to mean 0 and variance 1, scales and shifts it, filters it, and takes the
    maximum magnitude of every three results. Filters are linear, so scale and shift can be applied after them, and overlapping
    windows share the filters. For a > 0, the maximum of |a·x + d| is the greater of a·max(x) + d and a·max(-x) - d.
    """
    windows = _windows(graph)
    scale, shift = float(weights["wn.weight"][0]), float(weights["wn.bias"][0])
    filters = weights["c0.weight"]
    sound = graph.add("Reshape", [windows.cut(graph, "waveform", 1, HOP_SAMPLES, WINDOW_SAMPLES), graph.integers(-1, WINDOW_SAMPLES)])
    mean = graph.add("ReduceMean", [sound], axes=[1])
    apart = graph.add("Sub", [sound, mean])
    variance = graph.add("ReduceMean", [graph.add("Mul", [apart, apart])], axes=[1])
    deviation = graph.add("Sqrt", [graph.add("Add", [variance, graph.floats("epsilon", NORM_EPSILON)])])
    # The scale is negative, so its sign is moved into the filters.
    gain = graph.add("Div", [graph.floats("scale", abs(scale)), deviation])
    sign = np.sign(scale)
    moved = graph.add("Sub", [graph.floats("shift", shift), graph.add("Mul", [graph.add("Mul", [gain, mean]), graph.floats("sign", sign)])])
    offset = graph.add("Mul", [moved, graph.floats("filter_sums", filters.sum(axis=(1, 2))[None])])
    gain, offset = (graph.add("Unsqueeze", [each, graph.integers(2)]) for each in (gain, offset))
    streams = graph.add("Unsqueeze", ["waveform", graph.integers(1)])
    results = graph.add("Conv", [streams, graph.floats("c0.weight", sign * filters)], strides=[FILTER_SHIFT])
    frames = ((WINDOW_SAMPLES - FILTER_SAMPLES) // FILTER_SHIFT + 1) // POOLED

    def scaled(x: str) -> str:
        cut = windows.cut(graph, _pooled(graph, x), 2, HOP_SAMPLES // (FILTER_SHIFT * POOLED), frames)
        apiece = graph.add("Reshape", [graph.add("Transpose", [cut], perm=[0, 2, 1, 3]), graph.integers(-1, FILTERS, frames)])
        return graph.add("Mul", [apiece, gain])

    above = graph.add("Add", [scaled(results), offset])
    below = graph.add("Sub", [scaled(graph.add("Neg", [results])), offset])
    return graph.add("Max", [above, below])


def _pooled(graph: Graph, x: str) -> str:
    return graph.add("MaxPool", [x], kernel_shape=[POOLED], strides=[POOLED])


def _norm(graph: Graph, weights: dict[str, np.ndarray], name: str, x: str) -> str:
    parts = [graph.floats(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]
    return _leaky(graph, graph.add("InstanceNormalization", [x, *parts], epsilon=NORM_EPSILON))


def _leaky(graph: Graph, x: str) -> str:
    return graph.add("LeakyRelu", [x], alpha=0.01)


def _lstm(graph: Graph, name: str, bias: np.ndarray, inputs: np.ndarray, states: np.ndarray, x: str) -> str:
    """Runs both directions: maps [frames, windows, channels] to [frames, windows, 2 × 128]."""
    matrices, scales = [], []
    for part, matrix in (("inputs", inputs), ("states", states)):
        scale = _reach(matrix) / GREATEST
        whole = np.round(matrix / scale[:, :, None]).astype(np.int8)
        matrices.append(graph.constant(f"{name}.{part}", whole.transpose(0, 2, 1)))
        zero = graph.constant(f"{name}.zero", np.zeros_like(scale, np.int8))
        scales += [graph.floats(f"{name}.{part}_scale", scale), zero]
    given = [x, *matrices, graph.floats(f"{name}.bias", bias), "", "", "", "", *scales]
    y = graph.add("DynamicQuantizeLSTM", given, domain="com.microsoft", direction="bidirectional", hidden_size=LSTM_SIZE)
    return graph.add("Reshape", [graph.add("Transpose", [y], perm=[0, 2, 1, 3]), graph.integers(0, 0, -1)])


def _reach(matrix: np.ndarray) -> np.ndarray:
    """
    Returns the maximum magnitude of each row, or of the sum of two neighbours of the same sign. Processors without VNNI sum
    their products with unsigned bytes in 16 bits, which 127 × 255 does not overflow.
    """
    positive, negative = np.maximum(matrix, 0), np.maximum(-matrix, 0)
    together = [each[..., 0::2] + each[..., 1::2] for each in (positive, negative)]
    return np.maximum(*together).max(axis=2)


source, output = map(Path, sys.argv[1:])
output.write_bytes(segmentation(source).SerializeToString(deterministic=True))
