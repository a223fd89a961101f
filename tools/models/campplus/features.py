"""Kaldi's logarithmic mel spectrum as an ONNX graph: 25 ms frames every 10 ms, 80 bands from 20 Hz to 8 kHz."""

import numpy as np

from graph import Graph

SAMPLE_RATE = 16_000
FRAME_SAMPLES = 400
SHIFT_SAMPLES = 160
TRANSFORM_SIZE = 512
BINS = TRANSFORM_SIZE // 2 + 1
BANDS = 80
LOWEST_HERTZ, HIGHEST_HERTZ = 20.0, 8_000.0
PREEMPHASIS = 0.97
# The resolution of 32-bit floats just below 1.
STEPS = 2**24
FLOOR = float(np.finfo(np.float32).eps)


def log_mel_spectrum(graph: Graph, waveform: str) -> str:
    """Maps `waveform` [batch, samples] to [batch, bands, frames] and subtracts each band's mean over the frames."""
    transform = graph.floats("transform", _transform()[:, None, :])
    spectrum = graph.add(
        "Conv", [graph.add("Unsqueeze", [waveform, graph.integers(1)]), transform], strides=[SHIFT_SAMPLES]
    )
    squares = graph.add("Mul", [spectrum, spectrum])
    # The filters are included twice, for the squares of the real and of the imaginary parts.
    filters = _mel_filters()
    energies = graph.add("MatMul", [graph.floats("mel_filters", np.concatenate([filters, filters], axis=1)), squares])
    logarithms = graph.add("Log", [graph.add("Max", [energies, graph.floats("floor", FLOOR)])])
    return graph.add("Sub", [logarithms, graph.add("ReduceMean", [logarithms], axes=[2])])


def _transform() -> np.ndarray:
    """
    Returns one matrix for Kaldi's processing of a frame (mean subtraction, pre-emphasis, window) and the Fourier transform, which
    are all linear. The steps are applied in reverse order, because a row contains the weight of each sample.
    """
    places = np.arange(FRAME_SAMPLES)
    angles = 2 * np.pi / TRANSFORM_SIZE * np.outer(np.arange(BINS), places)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * places / (FRAME_SAMPLES - 1))) ** 0.85
    windowed = np.concatenate([np.cos(angles), -np.sin(angles)]) * window
    emphasised = windowed.copy()
    emphasised[:, :-1] -= PREEMPHASIS * windowed[:, 1:]
    # The sample before the first one is the first one again.
    emphasised[:, 0] -= PREEMPHASIS * windowed[:, 0]
    whole = emphasised - emphasised.mean(axis=1, keepdims=True)
    # Rounding removes the last digit, which differs between processors, and the addition a zero's sign. So the file is
    # the same on all of them.
    return np.round(whole * STEPS) / STEPS + 0.0


def _mel_filters() -> np.ndarray:
    def mel(hertz: np.ndarray | float) -> np.ndarray:
        return 1_127 * np.log(1 + np.asarray(hertz) / 700)

    edges = np.linspace(mel(LOWEST_HERTZ), mel(HIGHEST_HERTZ), BANDS + 2)
    bins = mel(np.arange(BINS) * SAMPLE_RATE / TRANSFORM_SIZE)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    filters = np.maximum(0, np.minimum(rising, falling))
    # Kaldi omits the bin at half the sample rate.
    filters[:, -1] = 0
    return filters
