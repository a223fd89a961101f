"""Transcribes live sound with OpenAI's Python SDK, and writes the outcomes as JSON."""

import asyncio
import base64
import json
import sys

import openai
import websockets

question = json.load(sys.stdin)
client = openai.OpenAI(base_url=question["http_url"], api_key=question["key"], max_retries=0)
later = openai.AsyncOpenAI(base_url=question["http_url"], api_key=question["key"], max_retries=0)

MANUAL = {
    "type": "transcription",
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24000},
            "transcription": {"model": "gpt-4o-transcribe-diarize", "language": "en"},
            "turn_detection": None,
        }
    },
}


def parts(size):
    """Yields sound in parts of 100 ms, as base64."""
    for sent in range(0, size, 4800):
        yield base64.b64encode(bytes(min(4800, size - sent))).decode()


def described(events):
    """Returns what the test needs of the events of a session."""
    last = events[-1]
    return {
        "types": [event.type for event in events],
        "classes": sorted({type(event).__name__ for event in events}),
        "deltas": "".join(event.delta for event in events if event.type.endswith(".delta")),
        "speakers": [event.speaker for event in events if event.type.endswith(".segment")],
        "last": last.to_dict(),
    }


def is_last(event):
    return event.type == "error" or event.type.endswith("input_audio_transcription.completed")


def manual():
    """Ends the turn itself, with the synchronous client."""
    events = []
    with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        for event in connection:
            events.append(event)
            if event.type == "session.created":
                connection.session.update(session=MANUAL)
            elif event.type == "session.updated":
                for audio in parts(9600):
                    connection.input_audio_buffer.append(audio=audio)
                connection.input_audio_buffer.commit()
            elif is_last(event):
                return described(events)


async def detected():
    """Lets the server end the turn, with the asynchronous client and a client secret."""
    secret = await later.realtime.client_secrets.create(
        session={"type": "transcription"}, expires_after={"anchor": "created_at", "seconds": 60}
    )
    browser = openai.AsyncOpenAI(base_url=question["http_url"], api_key=secret.value)
    events = []
    async with browser.realtime.connect(model="gpt-4o-transcribe") as connection:
        async for event in connection:
            events.append(event)
            if event.type == "session.created":
                for audio in parts(question["turn_bytes"]):
                    await connection.input_audio_buffer.append(audio=audio)
            elif is_last(event):
                return described(events)


def refused(event):
    """Sends an event that the server refuses."""
    with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        connection.send(event)
        for answer in connection:
            if is_last(answer):
                return answer.error.to_dict()


def wrong_key():
    stranger = openai.OpenAI(base_url=question["http_url"], api_key="wrong")
    try:
        with stranger.realtime.connect(extra_query={"intent": "transcription"}):
            return None
    except websockets.exceptions.InvalidStatus as error:
        return error.response.status_code


def older():
    """Asks for a session in the older form."""
    session = client.beta.realtime.transcription_sessions.create(input_audio_format="g711_alaw")
    return {"format": session.input_audio_format, "prefix": session.client_secret.value[:3]}


async def older_connection():
    """Speaks the older form of the events, for which the SDK expects a secure address unless it is told another."""
    address = question["http_url"].replace("http:", "ws:")
    plain = openai.AsyncOpenAI(websocket_base_url=address, api_key=question["key"])
    events = []
    async with plain.beta.realtime.connect(model="gpt-4o-transcribe") as connection:
        async for event in connection:
            events.append(event)
            if event.type == "transcription_session.created":
                await connection.transcription_session.update(
                    session={"input_audio_format": "pcm16", "turn_detection": None}
                )
            elif event.type == "transcription_session.updated":
                for audio in parts(9600):
                    await connection.input_audio_buffer.append(audio=audio)
                await connection.input_audio_buffer.commit()
            elif is_last(event):
                return described(events)


print(
    json.dumps(
        {
            "manual": manual(),
            "detected": asyncio.run(detected()),
            "response": refused({"type": "response.create", "event_id": "mine"}),
            "empty": refused({"type": "input_audio_buffer.commit", "event_id": "mine"}),
            "wrong_key": wrong_key(),
            "older": older(),
            "older_connection": asyncio.run(older_connection()),
        }
    )
)
