"""Reads the tensors of a PyTorch checkpoint without PyTorch, and without running anything that the file asks for."""

import pickle
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_LOCAL_HEADER_BYTES = 30


@dataclass(frozen=True)
class StoredTensor:
    """Where a tensor of 32-bit floats lies: its first byte in the checkpoint's file, and its dimensions."""

    offset: int
    dims: tuple[int, ...]

    @property
    def count(self) -> int:
        return int(np.prod(self.dims))


class Checkpoint:
    """The float tensors of a state dictionary. A checkpoint is a zip whose entries are stored, not compressed."""

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes()
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
                raise ValueError(f"{path} is compressed")
            index = next(name for name in entries if name.endswith("/data.pkl"))
            with archive.open(index) as file:
                content = _Unpickler(file).load()
        folder = index.removesuffix("data.pkl") + "data/"
        state = content["state_dict"] if "state_dict" in content else content
        self.tensors: dict[str, StoredTensor] = {}
        for name, tensor in state.items():
            if tensor.storage.kind != "FloatStorage":
                continue
            if tensor.strides != _row_major(tensor.dims):
                raise ValueError(f"{name} is not stored row by row")
            start = self._data_offset(entries[folder + tensor.storage.key])
            self.tensors[name] = StoredTensor(start + 4 * tensor.first, tensor.dims)

    def __getitem__(self, name: str) -> np.ndarray:
        tensor = self.tensors[name]
        return np.frombuffer(self._bytes, "<f4", tensor.count, tensor.offset).reshape(tensor.dims)

    def _data_offset(self, entry: zipfile.ZipInfo) -> int:
        """Name and extra field of the local header, which may differ from the directory's, come before the data."""
        header = self._bytes[entry.header_offset : entry.header_offset + _LOCAL_HEADER_BYTES]
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


class _Anything:
    """Stands for every object that is no tensor."""

    def __init__(self, *_: object) -> None:
        pass

    def __setstate__(self, _: object) -> None:
        pass


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, first, dims, strides, *_: _Tensor(storage, first, tuple(dims), tuple(strides))
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        return type(name, (_Anything,), {})

    def persistent_load(self, pid: tuple) -> _Storage:
        _, kind, key, *_rest = pid
        return _Storage(kind.__name__, key)


def _row_major(dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(dims[place + 1 :])) for place in range(len(dims)))
