"""Finds the tensors in a PyTorch checkpoint without PyTorch and without running code from the file."""

import math
import pickle
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_LOCAL_HEADER_BYTES = 30


@dataclass(frozen=True)
class StoredTensor:
    """Position of a tensor of 32-bit floats: its first byte in the checkpoint's file, and its dimensions."""

    offset: int
    dims: tuple[int, ...]

    def read(self, content: bytes) -> np.ndarray:
        """Returns the tensor from the checkpoint's content."""
        return np.frombuffer(content, "<f4", math.prod(self.dims), self.offset).reshape(self.dims)


def stored_floats(path: Path) -> dict[str, StoredTensor]:
    """Returns the float tensors of a state dictionary. A checkpoint is a zip file with uncompressed entries."""
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
            raise ValueError(f"{path} is compressed")
        index = next(name for name in entries if name.endswith("/data.pkl"))
        with archive.open(index) as file:
            state = _Unpickler(file).load()
    folder = index.removesuffix("data.pkl") + "data/"
    content = path.read_bytes()
    found = {}
    for name, tensor in state.items():
        if tensor.storage.kind != "FloatStorage":
            continue
        if tensor.strides != _row_major(tensor.dims):
            raise ValueError(f"{name} is not stored row by row")
        start = _data_offset(content, entries[folder + tensor.storage.key])
        found[name] = StoredTensor(start + 4 * tensor.first, tensor.dims)
    return found


def _data_offset(content: bytes, entry: zipfile.ZipInfo) -> int:
    """Returns the offset of the data after the local header, whose name and extra field may differ from the directory's."""
    header = content[entry.header_offset : entry.header_offset + _LOCAL_HEADER_BYTES]
    name_bytes, extra_bytes = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    return entry.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes


@dataclass(frozen=True)
class _Storage:
    kind: str
    key: str


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    first: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, first, dims, strides, *_: _Tensor(storage, first, tuple(dims), tuple(strides))
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name.endswith("Storage"):
            return name
        raise pickle.UnpicklingError(f"a checkpoint of weights has no {module}.{name}")

    def persistent_load(self, pid: tuple) -> _Storage:
        _, kind, key, *_rest = pid
        return _Storage(kind, key)


def _row_major(dims: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 1
    for dim in reversed(dims):
        strides.insert(0, step)
        step *= dim
    return tuple(strides)
