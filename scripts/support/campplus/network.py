"""CAM++ (Wang et al., 2023) as an ONNX graph with its features inside, and without its weights."""

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto

from features import BANDS, log_mel_spectrum
from graph import Graph

CHANNELS = 32
EMBEDDING_SIZE = 192
# Layers and dilation of the three dense blocks.
BLOCKS = ((12, 1), (24, 2), (16, 2))
# Frames over which a layer looks at its surroundings (2 s).
SEGMENT_FRAMES = 100
NORM_EPSILON = 1e-5


def campplus() -> onnx.ModelProto:
    """
    `waveform` [batch, samples] to `embedding` [batch, 192] of unit length. What a node takes as `head.…` or `xvector.…` is
    not in the file: these are the names of the checkpoint's tensors.
    """
    graph = Graph("campplus")
    x = _head(graph, log_mel_spectrum(graph, "waveform"))
    x = graph.add("Conv", [x, "xvector.tdnn.linear.weight"], strides=[2], pads=[2, 2])
    x = _norm_relu(graph, x, "xvector.tdnn.nonlinear.batchnorm")
    segments = _segments(graph, x)
    for number, (layers, dilation) in enumerate(BLOCKS, start=1):
        for layer in range(1, layers + 1):
            grown = _dense_layer(graph, x, f"xvector.block{number}.tdnnd{layer}", dilation, segments)
            x = graph.add("Concat", [x, grown], axis=1)
        name = f"xvector.transit{number}"
        x = graph.add("Conv", [_norm_relu(graph, x, f"{name}.nonlinear.batchnorm"), f"{name}.linear.weight"])
    statistics = _mean_and_deviation(graph, _norm_relu(graph, x, "xvector.out_nonlinear.batchnorm"))
    embedding = _last_norm(graph, graph.add("Conv", [statistics, "xvector.dense.linear.weight"]))
    flat = graph.add("Squeeze", [embedding, graph.integers(2)])
    unit = graph.add("Div", [flat, graph.add("ReduceL2", [flat], axes=[1])])
    return graph.model(["batch", "samples"], (unit, "embedding", ["batch", EMBEDDING_SIZE]))


def _head(graph: Graph, spectrum: str) -> str:
    """Convolutions over time and frequency; [batch, bands, frames] to [batch, channels of an eighth of the bands, frames]."""
    x = graph.add("Unsqueeze", [spectrum, graph.integers(1)])
    x = _relu(graph, _conv_norm(graph, x, "head.conv1", "head.bn1"))
    for layer in (1, 2):
        for block, stride in ((0, 2), (1, 1)):
            x = _residual(graph, x, f"head.layer{layer}.{block}", stride)
    x = _relu(graph, _conv_norm(graph, x, "head.conv2", "head.bn2", stride=2))
    return graph.add("Reshape", [x, graph.integers(0, CHANNELS * BANDS // 8, -1)])


def _residual(graph: Graph, x: str, name: str, stride: int) -> str:
    inner = _relu(graph, _conv_norm(graph, x, f"{name}.conv1", f"{name}.bn1", stride))
    inner = _conv_norm(graph, inner, f"{name}.conv2", f"{name}.bn2")
    if stride > 1:
        shortcut = graph.add("Conv", [x, f"{name}.shortcut.0.weight"], strides=[stride, 1])
        x = _norm(graph, shortcut, f"{name}.shortcut.1")
    return _relu(graph, graph.add("Add", [inner, x]))


def _conv_norm(graph: Graph, x: str, convolution: str, norm: str, stride: int = 1) -> str:
    x = graph.add("Conv", [x, f"{convolution}.weight"], strides=[stride, 1], pads=[1, 1, 1, 1])
    return _norm(graph, x, norm)


@dataclass(frozen=True)
class Segments:
    """
    Matrices [frames, segments] and [segments, frames] that frames are multiplied with: `around` gives for each segment its mean
    and all frames' together, `spread` gives each frame its segment's.
    """

    around: str
    spread: str


def _segments(graph: Graph, x: str) -> Segments:
    """The last segment has as many frames as remain."""
    zero, one, size = graph.scalar(0), graph.scalar(1), graph.scalar(SEGMENT_FRAMES)
    frames = graph.add("Squeeze", [graph.length(x)])
    place = graph.add("Range", [zero, frames, one])
    last = graph.add("Div", [graph.add("Sub", [frames, one]), size])
    segment = graph.add("Range", [zero, graph.add("Add", [last, one]), one])
    column = graph.add("Unsqueeze", [graph.add("Div", [place, size]), graph.integers(1)])
    inside = graph.add("Cast", [graph.add("Equal", [column, segment])], to=TensorProto.FLOAT)
    mean = graph.add("Div", [inside, graph.add("ReduceSum", [inside, graph.integers(0)])])
    whole = graph.add("Reciprocal", [graph.add("Cast", [frames], to=TensorProto.FLOAT)])
    return Segments(graph.add("Add", [mean, whole]), graph.add("Transpose", [inside]))


def _dense_layer(graph: Graph, x: str, name: str, dilation: int, segments: Segments) -> str:
    """
    A narrow convolution, weighted channel by channel by what is around. That is the same over a whole segment, so that it
    is computed once for each and only then spread over the segment's frames.
    """
    x = graph.add("Conv", [_norm_relu(graph, x, f"{name}.nonlinear1.batchnorm"), f"{name}.linear1.weight"])
    x = _norm_relu(graph, x, f"{name}.nonlinear2.batchnorm")
    local = graph.add(
        "Conv", [x, f"{name}.cam_layer.linear_local.weight"], dilations=[dilation], pads=[dilation, dilation]
    )
    around = graph.add("MatMul", [x, segments.around])
    around = _relu(graph, graph.add("Conv", [around, *_weight_and_bias(f"{name}.cam_layer.linear1")]))
    around = graph.add("Sigmoid", [graph.add("Conv", [around, *_weight_and_bias(f"{name}.cam_layer.linear2")])])
    return graph.add("Mul", [local, graph.add("MatMul", [around, segments.spread])])


def _mean_and_deviation(graph: Graph, x: str) -> str:
    mean = graph.add("ReduceMean", [x], axes=[2])
    apart = graph.add("Sub", [x, mean])
    squares = graph.add("ReduceSum", [graph.add("Mul", [apart, apart]), graph.integers(2)])
    count = graph.add("Cast", [graph.length(x)], to=TensorProto.FLOAT)
    one = graph.floats("one", 1)
    # A single frame deviates by nothing.
    variance = graph.add("Div", [squares, graph.add("Max", [graph.add("Sub", [count, one]), one])])
    return graph.add("Concat", [mean, graph.add("Sqrt", [variance])], axis=1)


def _last_norm(graph: Graph, x: str) -> str:
    """The one normalisation without weights of its own."""
    scale = graph.floats("ones", np.ones(EMBEDDING_SIZE))
    shift = graph.floats("zeros", np.zeros(EMBEDDING_SIZE))
    name = "xvector.dense.nonlinear.batchnorm"
    statistics = [f"{name}.running_mean", f"{name}.running_var"]
    return graph.add("BatchNormalization", [x, scale, shift, *statistics], epsilon=NORM_EPSILON)


def _norm_relu(graph: Graph, x: str, name: str) -> str:
    return _relu(graph, _norm(graph, x, name))


def _norm(graph: Graph, x: str, name: str) -> str:
    parts = [f"{name}.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
    return graph.add("BatchNormalization", [x, *parts], epsilon=NORM_EPSILON)


def _relu(graph: Graph, x: str) -> str:
    return graph.add("Relu", [x])


def _weight_and_bias(name: str) -> tuple[str, str]:
    return f"{name}.weight", f"{name}.bias"
