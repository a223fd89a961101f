"""pyannote segmentation 3.0 as an ONNX model: who speaks when within ten seconds."""

from itertools import combinations

import numpy as np
import onnx

from checkpoint import Checkpoint
from graph import Graph

SAMPLE_RATE = 16_000
WINDOW_SAMPLES = 10 * SAMPLE_RATE
FRAMES = 589
SPEAKERS = 3
# The model chooses among sets of speakers (Plaquet and Bredin, 2023): nobody, one of three, two of three.
SETS = [chosen for size in range(3) for chosen in combinations(range(SPEAKERS), size)]
LSTM_LAYERS = 4
LSTM_SIZE = 128
# PyTorch's gates are input, forget, cell, output; ONNX wants input, output, forget, cell.
GATES = (0, 3, 1, 2)
LEAK = 0.01
NORM_EPSILON = 1e-5


def segmentation(weights: Checkpoint) -> onnx.ModelProto:
    """`waveform` [batch, 160000] to `activity` [batch, 589, 3], the probability that each local speaker is heard."""
    graph = Graph("segmentation")
    features = _sincnet(graph, weights, graph.add("Unsqueeze", ["waveform", graph.integers(1)]))
    sequence = graph.add("Transpose", [features], perm=[2, 0, 1])
    for layer in range(LSTM_LAYERS):
        sequence = _lstm(graph, weights, sequence, layer)
    hidden = graph.add("Transpose", [sequence], perm=[1, 0, 2])
    for name in ("linear.0", "linear.1"):
        hidden = graph.add("LeakyRelu", [_linear(graph, weights, hidden, name)], alpha=LEAK)
    likelihoods = graph.add("Softmax", [_linear(graph, weights, hidden, "classifier")], axis=-1)
    membership = graph.floats("sets", [[speaker in chosen for speaker in range(SPEAKERS)] for chosen in SETS])
    activity = graph.add("MatMul", [likelihoods, membership])
    return graph.model(["batch", WINDOW_SAMPLES], (activity, "activity", ["batch", FRAMES, SPEAKERS]))


def _sincnet(graph: Graph, weights: Checkpoint, waveform: str) -> str:
    x = _instance_norm(graph, weights, waveform, "sincnet.wav_norm1d")
    for layer in range(3):
        if layer == 0:
            x = graph.add("Abs", [graph.add("Conv", [x, graph.floats("sinc", _sinc_filters(weights))], strides=[10])])
        else:
            name = f"sincnet.conv1d.{layer}"
            x = graph.add("Conv", [x, *_both(graph, weights, name)])
        x = graph.add("MaxPool", [x], kernel_shape=[3], strides=[3])
        x = graph.add("LeakyRelu", [_instance_norm(graph, weights, x, f"sincnet.norm1d.{layer}")], alpha=LEAK)
    return x


def _sinc_filters(weights: Checkpoint) -> np.ndarray:
    """Band-pass filters from their learnt cut-offs, even and odd ones (Ravanelli and Bengio, 2018; Pariente et al., 2020)."""
    bank = "sincnet.conv1d.0.filterbank"
    half, times = weights[f"{bank}.window_"].astype(np.float64), weights[f"{bank}.n_"].astype(np.float64)
    low = 50 + np.abs(weights[f"{bank}.low_hz_"].astype(np.float64))
    high = np.clip(low + 50 + np.abs(weights[f"{bank}.band_hz_"].astype(np.float64)), 50, SAMPLE_RATE / 2)
    band = high - low
    even = (np.sin(high * times) - np.sin(low * times)) / (times / 2) * half
    odd = (np.cos(low * times) - np.cos(high * times)) / (times / 2) * half
    filters = np.concatenate(
        [
            np.concatenate([even, 2 * band, even[:, ::-1]], axis=1),
            np.concatenate([odd, np.zeros_like(band), -odd[:, ::-1]], axis=1),
        ]
    )
    return (filters / (2 * np.concatenate([band, band])))[:, None, :]


def _lstm(graph: Graph, weights: Checkpoint, sequence: str, layer: int) -> str:
    def both_ways(part: str) -> np.ndarray:
        return np.stack([_gates(weights[f"lstm.{part}_l{layer}{way}"]) for way in ("", "_reverse")])

    biases = np.concatenate([both_ways("bias_ih"), both_ways("bias_hh")], axis=1)
    output = graph.add(
        "LSTM",
        [
            sequence,
            graph.constant(f"lstm.weight_ih.{layer}", both_ways("weight_ih")),
            graph.constant(f"lstm.weight_hh.{layer}", both_ways("weight_hh")),
            graph.constant(f"lstm.bias.{layer}", biases),
        ],
        direction="bidirectional",
        hidden_size=LSTM_SIZE,
    )
    # [frames, direction, batch, size] to [frames, batch, both directions' sizes]
    joined = graph.add("Transpose", [output], perm=[0, 2, 1, 3])
    return graph.add("Reshape", [joined, graph.integers(0, 0, 2 * LSTM_SIZE)])


def _gates(values: np.ndarray) -> np.ndarray:
    parts = np.split(values, 4)
    return np.concatenate([parts[gate] for gate in GATES])


def _linear(graph: Graph, weights: Checkpoint, x: str, name: str) -> str:
    product = graph.add("MatMul", [x, graph.constant(f"{name}.weight", weights[f"{name}.weight"].T)])
    return graph.add("Add", [product, graph.constant(f"{name}.bias", weights[f"{name}.bias"])])


def _instance_norm(graph: Graph, weights: Checkpoint, x: str, name: str) -> str:
    return graph.add("InstanceNormalization", [x, *_both(graph, weights, name)], epsilon=NORM_EPSILON)


def _both(graph: Graph, weights: Checkpoint, name: str) -> tuple[str, str]:
    return tuple(graph.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
