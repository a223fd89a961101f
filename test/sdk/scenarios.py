"""The scenarios of clients.integration.test.ts in Python.

Reads a list of stages from standard input, and prints a list of their outcomes, both as JSON.
"""

import json
import os
import pathlib
import resource
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional

import transcribe_sdk
from transcribe_sdk import Client, RecordingFile, Transcription


@dataclass(frozen=True)
class Stage:
    """The circumstances of a scenario."""

    name: str
    base_url: str
    key: str
    recording: str
    directory: str
    id: str

    def client(self, timeout: float = 120, retry_seconds: float = 600) -> Client:
        return Client(self.base_url, self.key, timeout=timeout, retry_seconds=retry_seconds)


def error_of(stage: Stage, work: Callable[[], object]) -> Optional[Dict[str, object]]:
    """Returns the facts of an error that programs decide by."""
    try:
        work()
        return None
    except Exception as error:
        if stage.key in traceback.format_exc() + repr(error):
            raise SystemExit("an error shows the key") from None
        name = type(error).__name__
        if isinstance(error, transcribe_sdk.NoAnswerError):
            return {"name": name, "temporary": error.is_temporary}
        if isinstance(error, transcribe_sdk.TranscriptionFailedError):
            return {"name": name, "reason": error.transcription["failure_reason"]}
        if not isinstance(error, transcribe_sdk.TranscribeError):
            return {"name": "other", "text": str(error)}
        if not isinstance(error, transcribe_sdk.ApiError):
            return {"name": name}
        return {
            "name": name,
            "status": error.status,
            "code": error.code,
            "fields": list(error.errors),
            "required": error.required,
            "retry_after": error.retry_after,
            "has_request_id": error.request_id is not None,
        }


def create(client: Client, stage: Stage) -> object:
    created = client.create(stage.recording, {"language": "EN", "prompt": "Zoë", "speakers": 2})
    return {"id": created["id"], "name": created["source"]["name"]}


def bytes_(client: Client, stage: Stage) -> object:
    path = pathlib.Path(stage.recording)
    created = [
        client.create(path.read_bytes(), name='a "b"\n.mp3'),
        client.create(path.read_bytes()),
        client.create(path, name="file.mp3"),
    ]
    return [each["source"]["name"] for each in created]


def link(client: Client, stage: Stage) -> object:
    return client.create("https://example.org/talk.mp3#t=1")["source"]


def same_key(client: Client, stage: Stage) -> object:
    first = client.create(stage.recording, idempotency_key="job-1")
    again = client.create(stage.recording, idempotency_key="job-1")
    return {"is_same": first["id"] == again["id"]}


def missing_file(client: Client, stage: Stage) -> object:
    error = error_of(stage, lambda: client.create("/none/none.mp3")) or {}
    return {"name": error.get("name"), "is_named": "/none/none.mp3" in str(error.get("text"))}


def malformed(client: Client, stage: Stage) -> object:
    inside = client.operations._transport
    if stage.key in repr(client) + repr(vars(client)) + repr(vars(inside)):
        raise SystemExit("a client shows its key")
    pairs = [(stage.base_url, ""), (stage.base_url, stage.key + "\n"), ("ftp://x", stage.key)]
    pairs += [(f"http://user:{stage.key}@x", stage.key), ("x", stage.key)]

    def name(base_url: str, key: str) -> object:
        return (error_of(stage, lambda: Client(base_url, key)) or {}).get("name")

    return [name(*pair) for pair in pairs]


def cancelled(client: Client, stage: Stage) -> object:
    stop = threading.Event()

    def stop_it(_: Transcription) -> None:
        stop.set()

    def wait() -> object:
        return client.wait(stage.id, poll_seconds=0.05, on_progress=stop_it, cancel=stop)

    error = error_of(stage, wait)
    late = error_of(stage, lambda: client.wait(stage.id, poll_seconds=0.05, timeout=0.2))
    names = [(each or {}).get("name") for each in (error, late)]
    return "other" if names == ["CancelledError", "StillProcessingError"] else names


def pages(client: Client, stage: Stage) -> object:
    segments = list(client.segments(stage.id, words=True))
    return {
        "segments": len(segments),
        "last": segments[-1].get("words", [])[0]["text"],
        "listed": sum(1 for _ in client.list(status="completed")),
    }


def exports(client: Client, stage: Stage) -> object:
    client.export_file(stage.id, f"{stage.directory}/a.srt")
    refused = error_of(stage, lambda: client.export_file(stage.id, f"{stage.directory}/a.mp3"))
    text = client.export(stage.id, "txt")
    again = client.operations.export_transcription(
        stage.id, format="txt", if_none_match=text.etag
    )
    with open(f"{stage.directory}/a.srt", encoding="utf8") as file:
        srt = file.read(32)
    return {
        "files": os.listdir(stage.directory),
        "srt": srt,
        "refused": refused,
        "media_type": text.media_type,
        "size": len(text.content),
        "unchanged": again.is_unchanged,
    }


def delete(client: Client, stage: Stage) -> object:
    client.delete(stage.id)
    return error_of(stage, lambda: client.get(stage.id))


def large(client: Client, stage: Stage) -> object:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    form: transcribe_sdk.TranscriptionForm = {"file": RecordingFile(stage.recording)}
    created = client.operations.create_transcription(form, idempotency_key="large")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"name": created["source"]["name"], "megabytes": (after - before) // 1024}


def codes(client: Client, stage: Stage) -> List[str]:
    return [language["code"] for language in client.languages()]


def refused_once(client: Client, stage: Stage) -> object:
    return error_of(stage, lambda: stage.client(retry_seconds=5).get(stage.id))


def full(client: Client, stage: Stage) -> object:
    return error_of(stage, lambda: stage.client(retry_seconds=0).create(stage.recording))


def unanswered(client: Client, stage: Stage) -> object:
    return error_of(stage, lambda: stage.client(timeout=0.5, retry_seconds=0).get(stage.id))


def bad_hint(client: Client, stage: Stage) -> object:
    return error_of(stage, lambda: client.create(stage.recording, {"speakers": 99}))


def editing(client: Client, stage: Stage) -> object:
    id, edit = stage.id, client.editing
    revision = edit.correct(id, 0, [{"index": 0, "text": "Changed.", "speaker": "new"}])
    speakers = edit.name_speakers(id, {"A": "Ada", "B": None})["data"]
    conflict: Optional[List[object]] = None
    try:
        edit.correct(id, 0, [{"index": 0, "text": "Other."}])
    except transcribe_sdk.ApiError as error:
        conflict = [error.code, error.changes and error.changes["revision"]]
    changed = list(edit.segments_after(id, revision))[0]
    difference = list(edit.differences(id, 0))[0]
    return {
        "revision": revision,
        "restored": edit.restore(id, 0, revision),
        "actions": [each["action"] for each in edit.revisions(id)],
        "tags": edit.set_tags(id, ["board", "board"]),
        "tagged": [each["id"] == id for each in edit.tagged("board")],
        "found": len(list(edit.search("zzz", tag="board"))),
        "speakers": [each["name"] for each in speakers],
        "conflict": conflict,
        "texts": [changed["text"], difference["before"][0]["text"]],
        "latest": edit.latest_revision(id),
        "processing": edit.processing(id)["processing"],
    }


def cancelled_by_request(client: Client, stage: Stage) -> object:
    status = client.editing.cancel(stage.id)["status"]
    return [status, error_of(stage, lambda: client.wait(stage.id, poll_seconds=0.05))]


scenarios: Dict[str, Callable[[Client, Stage], object]] = {
    "editing": editing,
    "cancelled_by_request": cancelled_by_request,
    "create": create,
    "bytes": bytes_,
    "link": link,
    "same_key": same_key,
    "refused": lambda client, stage: error_of(stage, lambda: client.get(stage.id)),
    "refused_once": refused_once,
    "languages": codes,
    "bad_hint": bad_hint,
    "full": full,
    "missing_file": missing_file,
    "nothing_listens": lambda client, stage: error_of(stage, client.languages),
    "unanswered": unanswered,
    "malformed": malformed,
    "wait": lambda client, stage: client.wait(stage.id, poll_seconds=0.05)["status"],
    "failed": lambda client, stage: error_of(
        stage, lambda: client.wait(stage.id, poll_seconds=0.05)
    ),
    "cancelled": cancelled,
    "pages": pages,
    "exports": exports,
    "delete": delete,
    "delete_refused": lambda client, stage: error_of(stage, lambda: client.delete(stage.id)),
    "large": large,
}


def outcome_of(stage: Stage) -> Dict[str, object]:
    started = time.monotonic()
    try:
        outcome = scenarios[stage.name](stage.client(), stage)
        return {"outcome": outcome, "seconds": time.monotonic() - started}
    except BaseException:
        return {"failure": traceback.format_exc(), "seconds": time.monotonic() - started}


stages = [Stage(**each) for each in json.load(sys.stdin)]
with ThreadPoolExecutor(max_workers=len(stages)) as pool:
    print(json.dumps(list(pool.map(outcome_of, stages))))
