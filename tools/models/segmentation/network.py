"""
pyannote/segmentation and pyannote/segmentation-3.0 as one ONNX graph that computes all overlapping windows together, and its
LSTMs in integers. An input chooses one of the two networks.

network.py PUBLISHED-MODEL PUBLISHED-MODEL-3.0 OUTPUT writes the segmentation model of this product.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, TensorProto, helper, numpy_helper

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
# Classes of segmentation-3.0, each a set of speakers who are active at once. The first is silence.
CLASSES = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
# Maximum of a signed byte.
GREATEST = 127


@dataclass(frozen=True)
class Published:
    """A published network: the names that its weights have in its export, by the names that they have here."""

    names: dict[str, str]
    # Numbers of the LSTM weights of each layer.
    lstms: tuple[int, ...]
    # Number of the first of the three linear layers.
    linear: int
    # Whether it outputs classes, which are sets of speakers, instead of speakers.
    has_classes: bool

    def weights(self, path: Path) -> dict[str, np.ndarray]:
        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
        return stored | {here: stored[there] for here, there in self.names.items()}


OLDER = Published({}, lstms=(679, 722, 765, 808), linear=811, has_classes=False)
NEWER = Published(
    {
        "wn.weight": "ortshared_1_1_1_1_token_110",
        "wn.bias": "ortshared_1_1_1_0_token_107",
        "c0.weight": "/sincnet/conv1d.0/Concat_2_output_0",
        **{f"c{layer}.{part}": f"sincnet.conv1d.{layer}.{part}" for layer in (1, 2) for part in ("weight", "bias")},
        **{f"n{layer}.{part}": f"sincnet.norm1d.{layer}.{part}" for layer in (0, 1, 2) for part in ("weight", "bias")},
        "l0.bias": "linear.0.bias",
        "l1.bias": "linear.1.bias",
        "cl.bias": "ortshared_1_1_7_0_token_109",
    },
    lstms=(783, 826, 869, 912),
    linear=915,
    has_classes=True,
)


def combined(older: onnx.ModelProto, newer: onnx.ModelProto) -> onnx.ModelProto:
    """
    Maps `waveform`, as `segmentation` does, and `noisy` [1] to `activity`: by the newer network if `noisy` is above one half, and
    otherwise by the older one. Only the chosen network is computed.
    """
    graph = Graph("segmentation")
    chosen = graph.add("Greater", ["noisy", graph.floats("half", [0.5])])
    branches = {"then_branch": _branch(newer, "newer"), "else_branch": _branch(older, "older")}
    result = (graph.add("If", [chosen], **branches), "activity", ["windows", FRAMES, SPEAKERS])
    inputs = {"waveform": (TensorProto.FLOAT, ["streams", "samples"]), "noisy": (TensorProto.FLOAT, [1])}
    return graph.model(inputs, result, domains=["com.microsoft"])


def _branch(model: onnx.ModelProto, name: str) -> GraphProto:
    """Returns a network as a branch of `If`, which takes its input from the graph around it."""
    graph, output = model.graph, f"{name}_activity"
    for node in graph.node:
        node.output[:] = [output if each == "activity" else each for each in node.output]
    dims = [each.dim_param or each.dim_value for each in graph.output[0].type.tensor_type.shape.dim]
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, dims)
    return helper.make_graph(list(graph.node), name, [], [result], list(graph.initializer))


def segmentation(published: Published, path: Path) -> onnx.ModelProto:
    """
    Maps `waveform` [streams, samples] to `activity` [streams × windows, frames, speakers]. A stream of 80,000 samples is one
    window. Each further 24,300 samples add a window that starts 24,300 samples later.
    """
    weights = published.weights(path)
    graph = Graph("segmentation")
    x = _filtered(graph, weights)
    x = _norm(graph, weights, "n0", x)
    for layer in (1, 2):
        x = graph.add("Conv", [x, *(graph.floats(f"c{layer}.{part}", weights[f"c{layer}.{part}"]) for part in ("weight", "bias"))])
        x = _norm(graph, weights, f"n{layer}", _pooled(graph, x))
    x = graph.add("Transpose", [x], perm=[2, 0, 1])
    for layer, number in enumerate(published.lstms):
        x = _lstm(graph, f"lstm{layer}", *(weights[f"onnx::LSTM_{number + part}"] for part in range(3)), x)
    x = graph.add("Transpose", [x], perm=[1, 0, 2])
    for number, name in enumerate(("l0", "l1", "cl"), published.linear):
        product = graph.add("MatMul", [x, graph.floats(f"{name}.weight", weights[f"onnx::MatMul_{number}"])])
        x = graph.add("Add", [product, graph.floats(f"{name}.bias", weights[f"{name}.bias"])])
        if name != "cl":
            x = _leaky(graph, x)
    activity = _of_speakers(graph, x) if published.has_classes else graph.add("Sigmoid", [x])
    result = (activity, "activity", ["windows", FRAMES, SPEAKERS])
    return graph.model({"waveform": (TensorProto.FLOAT, ["streams", "samples"])}, result, domains=["com.microsoft"])


def _of_speakers(graph: Graph, x: str) -> str:
    """Returns the probability of each speaker: the sum of the probabilities of the classes with this speaker."""
    members = [[float(speaker in each) for speaker in range(SPEAKERS)] for each in CLASSES]
    return graph.add("MatMul", [graph.add("Softmax", [x], axis=2), graph.floats("classes", members)])


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


if __name__ == "__main__":
    older, newer, output = map(Path, sys.argv[1:])
    both = combined(segmentation(OLDER, older), segmentation(NEWER, newer))
    output.write_bytes(both.SerializeToString(deterministic=True))
