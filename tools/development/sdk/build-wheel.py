"""Builds a wheel: reads {folder, to} from standard input and prints the wheel's name, both as JSON."""

import json
import os
import sys

from flit_core import buildapi

question = json.load(sys.stdin)
# The time of all entries, so that the same sources give the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"
os.chdir(question["folder"])
json.dump(buildapi.build_wheel(question["to"]), sys.stdout)
