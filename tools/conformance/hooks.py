"""Values that Schemathesis cannot derive from the description: a recording, a permitted link and valid cursors."""

import os

import schemathesis
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from schemathesis.generation import GenerationMode
from schemathesis.transport.serialization import Binary

# Hypothesis's tables of Unicode take seconds, so that they are stored for the next run.
set_hypothesis_home_dir(os.environ["CONFORMANCE_STORAGE"])

COMPLETED = os.environ["CONFORMANCE_RECORDING"]
CURSORS = {
    "listTranscriptions": os.environ["CONFORMANCE_LIST_CURSOR"],
    "listSegments": os.environ["CONFORMANCE_SEGMENT_CURSOR"],
}
# Operations that read a transcript. Those that change one would change what others read.
OF_COMPLETED = (
    "listSegments",
    "exportTranscription",
    "listSpeakers",
    "listRevisions",
    "getRevision",
    "compareRevision",
)
# Nothing listens on this port, and no request of a test run leaves the machine.
LINK = "http://127.0.0.1:9/interview.mp3"

EVENT = {
    "type": "object",
    "required": ["data"],
    "properties": {"data": {"type": "string", "pattern": r'^\{"type":"(transcript\.text\.(delta|segment|done)|error)"'}},
}


def wave() -> bytes:
    """Returns a few samples of silence: a recording that is accepted and fails at once as too short."""
    samples = bytes(2 * 32)
    form = b"fmt " + (16).to_bytes(4, "little") + bytes.fromhex("01000100803e0000007d000002001000")
    data = b"data" + len(samples).to_bytes(4, "little") + samples
    return b"RIFF" + (4 + len(form) + len(data)).to_bytes(4, "little") + b"WAVE" + form + data


schemathesis.openapi.format("binary", st.one_of(st.just(wave()), st.binary(max_size=4096)))
schemathesis.openapi.format("uri", st.just(LINK))


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """
    Replaces the example's link, which the server would resolve and fetch. Describes each event of a stream, because
    OpenAPI 3.0 can only describe the stream as a text.
    """
    if "/v1/audio/transcriptions" not in raw_schema["paths"]:
        return
    raw_schema["components"]["schemas"]["TranscriptionForm"]["properties"]["url"]["example"] = LINK
    for path in ("/v1/audio/transcriptions", "/v1/audio/translations"):
        answer = raw_schema["paths"][path]["post"]["responses"]["200"]
        answer["content"]["text/event-stream"]["schema"] = EVENT


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    operation = case.operation.definition.raw.get("operationId")
    if "cursor" in (case.query or {}):
        replace_cursor(case, CURSORS.get(operation, ""))
    if operation in OF_COMPLETED and is_odd(case.path_parameters["id"]):
        case.path_parameters["id"] = COMPLETED


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """
    Ignores two false positives of the check that requests which violate the schema are refused: a form with bytes and a
    value of an earlier response, and booleans in the spelling of other clients.
    """
    if type(failure).__name__ != "AcceptedNegativeData":
        return True
    body = case.body if isinstance(case.body, dict) else {}
    is_form_of_bytes = any(isinstance(part, (bytes, Binary)) for part in body.values())
    is_put_together = case.meta is not None and case.meta.phase.name.value.lower() == "stateful"
    if is_form_of_bytes and is_put_together:
        return False
    return not any(is_spelled_boolean(value) for value in (body.get("stream"), *(case.query or {}).values()))


def is_spelled_boolean(value) -> bool:
    """Selects a value that the compatible APIs accept as a boolean, although their schema has true and false only."""
    return value is not None and not isinstance(value, bool) and str(value).strip().lower() in ("", "0", "1", "true", "false")


def replace_cursor(case, cursor):
    """Replaces a cursor, because only the server creates valid ones."""
    if cursor == "":
        del case.query["cursor"]
    else:
        case.query["cursor"] = cursor


def is_odd(text) -> bool:
    """Selects half of all values, the same half in every run."""
    return sum(str(text).encode()) % 2 == 1
