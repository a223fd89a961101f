"""The scenarios of live.integration.test.ts in Python.

Reads a list of stages from standard input, and prints a list of their outcomes, both as JSON.
"""

import array
import json
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable, Dict, List

import transcribe_sdk
from transcribe_sdk import Client, LiveEvent, LiveParameters, LiveSession

CHUNK_BYTES = 3200
"""Bytes of 100 ms of sound."""


@dataclass(frozen=True)
class Stage:
    """The circumstances of a scenario."""

    name: str
    base_url: str
    key: str
    seconds: int
    """Seconds of sound to send."""
    ws: bool

    def client(self) -> Client:
        return Client(self.base_url, self.key, timeout=20)


def sound_of(seconds: int) -> bytes:
    """Returns sound in which each sample is different from its neighbours."""
    return array.array("h", [(at * 7919) % 30_011 for at in range(16_000 * seconds)]).tobytes()


def send_all(session: LiveSession, seconds: int) -> None:
    sound = sound_of(seconds)
    for at in range(0, len(sound), CHUNK_BYTES):
        session.send(sound[at : at + CHUNK_BYTES])
        time.sleep(0.001)


def facts_of(stage: Stage, error: BaseException) -> Dict[str, object]:
    """Returns the facts of an error that programs decide by."""
    if stage.key in "".join(traceback.format_exception(type(error), error, None)) + repr(error):
        raise SystemExit("an error shows the key") from None
    name = type(error).__name__
    if isinstance(error, transcribe_sdk.NoAnswerError):
        return {"name": name, "temporary": error.is_temporary}
    if isinstance(error, transcribe_sdk.LiveClosedError):
        return {"name": name, "close_code": error.close_code, "text": str(error)}
    if isinstance(error, transcribe_sdk.ApiError):
        facts: Dict[str, object] = {"name": name, "status": error.status, "code": error.code}
        return {**facts, "retry_after": error.retry_after}
    if isinstance(error, transcribe_sdk.TranscribeError):
        return {"name": name}
    return {"name": "other", "text": str(error)}


def run(
    stage: Stage, parameters: LiveParameters, work: Callable[[LiveSession], object]
) -> Dict[str, object]:
    """Sends sound and reads the events. Returns what programs see of them."""
    session = stage.client().live(parameters)
    events: List[LiveEvent] = []
    failures: List[Dict[str, object]] = []
    read_failures: List[Dict[str, object]] = []

    def read() -> None:
        try:
            events.extend(session)
        except Exception as error:
            read_failures.append(facts_of(stage, error))

    reading = threading.Thread(target=read)
    reading.start()
    try:
        work(session)
    except Exception as error:
        failures.append(facts_of(stage, error))
    reading.join()
    speakers: List[str] = []
    for event in events:
        if event["type"] == "speakers":
            speakers += [f"{each['segment']} {each['speaker']}" for each in event["speakers"]]
        elif event["type"] == "final" and event["segment"]["speaker"] is not None:
            speakers.append(f"{event['segment']['number']} {event['segment']['speaker']}")
    types = [event["type"] for event in events]
    return {
        "finals": [event["segment"]["text"] for event in events if event["type"] == "final"],
        "speakers": speakers,
        "connection": [each for each in types if each in ("session", "disconnected")],
        "partials": types.count("partial"),
        "other": [each for each in types if each in ("cleared", "committed", "turn_completed")],
        "last": events[-1],
        "failures": failures + read_failures,
    }


def words(stage: Stage) -> object:
    def work(session: LiveSession) -> None:
        send_all(session, stage.seconds)
        session.end()

    return run(stage, {"language": "en", "prompt": "Zoë, Ada", "name": "Talk & more"}, work)


def unkept(stage: Stage) -> object:
    def work(session: LiveSession) -> None:
        send_all(session, 1)
        session.end()

    return run(stage, {"keep": False}, work)


def messages(stage: Stage) -> object:
    """Sends messages between sound, and sound in pieces that divide samples."""

    def work(session: LiveSession) -> None:
        sound = sound_of(2)
        session.send(sound[:32_001])
        session.commit()
        session.send(bytearray(sound[32_001:40_000]))
        session.clear()
        session.update({"language": None, "silence_ms": 700})
        session.name_speaker("S1", "Anna")
        session.send(memoryview(sound)[40_000:])
        session.end()

    return run(stage, {"turns": "manual"}, work)


def refused(stage: Stage) -> object:
    try:
        return run(stage, {}, lambda session: None)
    except Exception as error:
        return facts_of(stage, error)


def closed(stage: Stage) -> object:
    """Closes the session without an end, after which it can't be used."""

    def work(session: LiveSession) -> None:
        with session:
            session.send(sound_of(1))
        session.send(sound_of(1))

    return run(stage, {}, work)


def after_end(stage: Stage) -> object:
    def work(session: LiveSession) -> None:
        session.end()
        session.send(sound_of(1))

    return run(stage, {}, work)


scenarios: Dict[str, Callable[[Stage], object]] = {
    "words": words,
    "unkept": unkept,
    "messages": messages,
    "refused": refused,
    "closed": closed,
    "after_end": after_end,
}


def outcome_of(stage: Stage) -> Dict[str, object]:
    try:
        return {"outcome": scenarios[stage.name](stage)}
    except BaseException:
        return {"failure": traceback.format_exc()}


stages = [Stage(**each) for each in json.load(sys.stdin)]
with ThreadPoolExecutor(max_workers=len(stages)) as pool:
    print(json.dumps(list(pool.map(outcome_of, stages))))
