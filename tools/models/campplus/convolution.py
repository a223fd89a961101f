"""Convolutions over time in bytes, whose ranges come from the statistics of the normalizations around them."""

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from graph import Graph

NORM_EPSILON = 1e-5
# Deviations of a channel that a byte covers, by the statistics of its normalization. On speech of the built dialogues and the
# meetings, embeddings are on average 0.995 alike to those in floats with 6 to 12, and 0.988 with 4. With 10, the most distant one
# of 64 is at 0.93 instead of 0.98.
DEVIATIONS = 8
# Deviations of the sum of independent inputs. Inputs that belong together have larger sums.
SUM_DEVIATIONS = 10
# Least range of a channel.
LEAST_REACH = 1e-3
GREATEST_BYTE = 255
GREATEST_SIGNED = 127
MIDDLE_BYTE = 128


def norm_parts(name: str) -> list[str]:
    return [f"{name}.{part}" for part in ("weight", "bias", "running_mean", "running_var")]


class ByteConvolutions:
    """
    Adds convolutions to a graph. A channel in bytes has steps of its own. The weights of the next convolution contain their
    values, so that the operators have a step of 1. `known` collects the tensors of the checkpoint that constants were made of.
    """

    def __init__(self, graph: Graph, checkpoint: Mapping[str, np.ndarray]) -> None:
        self._graph = graph
        self._checkpoint = checkpoint
        self.known: set[str] = set()
        self._one = graph.single("single_one", np.float32(1))

    def norm_relu(self, x: str, norm: str) -> tuple[str, np.ndarray]:
        """Returns the normalized positive values in bytes, and the value of a step for each channel."""
        graph = self._graph
        steps = self._relu_steps(norm)
        constant = graph.floats(f"{norm}.steps", steps)
        weight, bias, *statistics = norm_parts(norm)
        parts = [graph.add("Div", [part, constant]) for part in (weight, bias)]
        x = graph.add("BatchNormalization", [x, *parts, *statistics], epsilon=NORM_EPSILON)
        return graph.add("QuantizeLinear", [x, self._one, self._zero(0)]), steps

    def convolve_norm_relu(self, x: str, steps: np.ndarray, weights: str, norm: str) -> tuple[str, np.ndarray]:
        """Returns the positive output of a convolution and its normalization in bytes, and the value of a step."""
        output_steps = self._relu_steps(norm)
        weight, bias, mean, variance = (self._known(part) for part in norm_parts(norm))
        scale = weight / np.sqrt(variance + NORM_EPSILON)
        shift = (bias - mean * scale) / output_steps
        return self._convolve(x, weights, (steps, scale / output_steps), 0, shift), output_steps

    def convolve_sum(self, x: str, steps: np.ndarray, weights: str, norm: str, **attributes: list[int]) -> tuple[str, np.ndarray]:
        """Returns the output of a convolution, whose input is normalized, in steps, and their values."""
        weight, bias, *_statistics = (self._known(part) for part in norm_parts(norm))
        matrix = self._known(weights)
        mean = (matrix * np.maximum(bias, 0)[:, None]).sum(axis=(1, 2))
        deviation = np.sqrt(((matrix * weight[:, None]) ** 2).sum(axis=(1, 2)))
        output_steps = (np.abs(mean) + SUM_DEVIATIONS * deviation) / GREATEST_SIGNED
        return self._floats(self._convolve(x, weights, (steps, 1 / output_steps), MIDDLE_BYTE, None, **attributes)), output_steps

    def convolve_between(self, x: str, steps: np.ndarray, weights: str, norm: str) -> str:
        """Returns the output of a convolution in floats. The statistics of the following normalization give its range."""
        graph = self._graph
        *_weights, mean, variance = (self._known(part) for part in norm_parts(norm))
        output_steps = DEVIATIONS * np.sqrt(variance) / GREATEST_SIGNED
        x = self._floats(self._convolve(x, weights, (steps, 1 / output_steps), MIDDLE_BYTE, -mean / output_steps))
        x = graph.add("Mul", [x, graph.floats(f"{weights}.output_steps", output_steps[:, None])])
        return graph.add("Add", [x, graph.floats(f"{weights}.mean", mean[:, None])])

    def _relu_steps(self, norm: str) -> np.ndarray:
        weight, bias, *_statistics = (self._known(part) for part in norm_parts(norm))
        return np.maximum(np.maximum(bias, 0) + DEVIATIONS * np.abs(weight), LEAST_REACH) / GREATEST_BYTE

    def _convolve(
        self,
        x: str,
        weights: str,
        factors: tuple[np.ndarray, np.ndarray],
        zero: int,
        shift: np.ndarray | None,
        **attributes: list[int],
    ) -> str:
        """
        Adds a convolution from bytes to bytes, whose weights are multiplied by factors of its inputs and of its outputs. Each
        output has weights as fine as processors without VNNI allow: they sum the products of two neighbours in 16 bits, which
        127 × 255 does not overflow.
        """
        graph = self._graph
        inputs, outputs = factors[0][:, None], factors[1][:, None, None]
        matrix = self._known(weights) * inputs * outputs
        # Neighbours are two inputs or two frames, depending on the order in which a processor sums them.
        steps = np.maximum(_greatest_pairs(matrix), _greatest_pairs(matrix.transpose(0, 2, 1))) / GREATEST_SIGNED
        scaled = graph.add("Mul", [weights, graph.floats(f"{weights}.inputs", inputs)])
        scaled = graph.add("Mul", [scaled, graph.floats(f"{weights}.outputs", outputs / steps[:, None, None])])
        whole = graph.add("Cast", [graph.add("Round", [scaled])], to=TensorProto.INT8)
        zeros = graph.constant(f"{len(steps)}_zeros", np.zeros(len(steps), np.int8))
        parts = [x, self._one, self._zero(0), whole, graph.floats(f"{weights}.steps", steps), zeros, self._one, self._zero(zero)]
        if shift is not None:
            parts.append(graph.constant(f"{weights}.shift", np.round(shift / steps).astype(np.int32)))
        return graph.add("QLinearConv", parts, **attributes)

    def _floats(self, x: str) -> str:
        return self._graph.add("DequantizeLinear", [x, self._one, self._zero(MIDDLE_BYTE)])

    def _zero(self, value: int) -> str:
        return self._graph.single(f"zero_{value}", np.uint8(value))

    def _known(self, name: str) -> np.ndarray:
        self.known.add(name)
        return self._checkpoint[name].astype(np.float64)


def _greatest_pairs(matrix: np.ndarray) -> np.ndarray:
    """Returns the greatest sum of two neighbouring weights of one sign for each output."""
    signs = (np.maximum(sign * matrix, 0).reshape(len(matrix), -1, 2) for sign in (1, -1))
    return np.maximum(*(pairs.sum(axis=2).max(axis=1) for pairs in signs))
