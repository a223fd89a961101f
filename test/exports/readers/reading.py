"""Runs readers over exported files. Whatever a reader complains about is a problem of the file."""

import json
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path


def entry(start, end, speaker, text):
    """An entry of the answer; times in milliseconds, None for what the format or the reader does not have."""
    return {"start": start, "end": end, "speaker": speaker, "text": text}


def milliseconds(seconds):
    return round(float(seconds) * 1000)


def attempt(read, path):
    """Returns the entries that a reader finds; an exception, a warning and any output are a problem."""
    output = StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(output):
            entries = read(path)
        assert output.getvalue() == "", f"the reader printed {output.getvalue()}"
        # A missing value of a table is not a number, which JSON does not have.
        json.dumps(entries, allow_nan=False)
        return {"entries": entries, "problem": None}
    except Exception as error:
        return {"entries": [], "problem": f"{type(error).__name__}: {error}"}


def answer(readers):
    """
    Answers the question {"directories": [folders with the files `export.FORMAT`]} by the results of each reader in
    each folder. `readers` has the format and the function of each, by name.
    """
    warnings.simplefilter("error")
    directories = [Path(each) for each in json.load(sys.stdin)["directories"]]
    json.dump(
        [
            {name: attempt(read, directory / f"export.{format}") for name, (format, read) in readers.items()}
            for directory in directories
        ],
        sys.stdout,
    )
