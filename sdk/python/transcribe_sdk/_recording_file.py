"""Recordings, and the multipart form that uploads them."""

import os
import uuid
from typing import Iterator, Mapping, Optional, Tuple, Union

BLOCK_BYTES = 256 * 1024

RecordingInput = Union[str, "os.PathLike[str]", bytes]
"""A recording to upload: a file's path, or bytes."""


class RecordingFile:
    """A recording with the name under which it is uploaded.

    A file is read while it is sent, and again for a retry.
    """

    def __init__(self, content: RecordingInput, name: Optional[str] = None) -> None:
        self._content = content
        own = "recording" if isinstance(content, bytes) else os.path.basename(os.fspath(content))
        self.name = name if name is not None else own

    def __repr__(self) -> str:
        return "RecordingFile(…)"

    def size(self) -> int:
        """Returns the number of bytes."""
        if isinstance(self._content, bytes):
            return len(self._content)
        return os.path.getsize(self._content)

    def blocks(self, size: int) -> Iterator[bytes]:
        """Reads the first `size` bytes."""
        if isinstance(self._content, bytes):
            yield self._content
            return
        with open(self._content, "rb") as file:
            left = size
            while left > 0:
                block = file.read(min(BLOCK_BYTES, left))
                if not block:
                    raise OSError("the recording became shorter while it was sent")
                left -= len(block)
                yield block


class FormBody:
    """The multipart body of a form. None and missing fields are omitted."""

    def __init__(self, form: Mapping[str, object]) -> None:
        self.boundary = f"transcribe-{uuid.uuid4().hex}"
        fields = [(name, value) for name, value in form.items() if value is not None]
        text = "".join(
            f"{self._head(name, '')}{value}\r\n"
            for name, value in fields
            if not isinstance(value, RecordingFile)
        )
        self._file: Optional[Tuple[RecordingFile, int]] = None
        end = f"--{self.boundary}--\r\n"
        for name, value in fields:
            if isinstance(value, RecordingFile):
                self._file = (value, value.size())
                file = f'; filename="{_quoted(value.name)}"\r\nContent-Type: application/octet-stream'
                text += self._head(name, file)
                end = f"\r\n{end}"
        self._before = text.encode()
        self._after = end.encode()

    def _head(self, name: str, rest: str) -> str:
        return f'--{self.boundary}\r\nContent-Disposition: form-data; name="{name}"{rest}\r\n\r\n'

    def headers(self) -> Mapping[str, str]:
        size = 0 if self._file is None else self._file[1]
        return {
            "Content-Type": f"multipart/form-data; boundary={self.boundary}",
            "Content-Length": str(len(self._before) + size + len(self._after)),
        }

    def blocks(self) -> Iterator[bytes]:
        yield self._before
        if self._file is not None:
            file, size = self._file
            yield from file.blocks(size)
        yield self._after


def _quoted(name: str) -> str:
    """Escapes a name as in the HTML standard ("multipart/form-data encoding algorithm")."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
