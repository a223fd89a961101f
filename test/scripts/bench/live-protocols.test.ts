import { describe, expect, test } from "bun:test";
import { liveKitProtocol, ownProtocol, type Reader, whisperLiveProtocol } from "../../../tools/bench/live/protocols.ts";

/** Returns the texts after each message that changes them. */
function textsAfter(reader: Reader, messages: readonly unknown[]): string[] {
  return messages.flatMap((message) => {
    return reader.read(message) === "shown" ? [`${reader.final} | ${reader.partial}`] : [];
  });
}

describe("our own protocol", () => {
  const protocol = ownProtocol("ws://127.0.0.1:1/api", "key", "en");
  const partial = (turn: string, text: string) => ({ type: "partial", turn, text, words: [] });
  const final = (turn: string, number: number, text: string) => ({
    ...{ type: "final", turn },
    segment: { number, start: 0, end: 1, text, speaker: null, words: [] },
  });

  test("opens a session that is not kept", () => {
    const { searchParams } = new URL(protocol.url);
    expect(Object.fromEntries(searchParams)).toEqual({
      ...{ sample_rate: "16000", encoding: "pcm16", keep: "false", language: "en" },
    });
    expect(protocol.headers).toEqual({ authorization: "Bearer key" });
    expect(new URL(ownProtocol("ws://127.0.0.1:1", "key", null).url).searchParams.has("language")).toBe(false);
  });

  test("shows final segments in order, then the partial words of all turns", () => {
    const messages = [
      partial("a", "we all"),
      final("a", 0, "We all"),
      partial("a", "go home"),
      partial("b", "yes"),
      final("a", 1, "go home."),
      { type: "turn_completed", turn: "a", text: "We all go home.", seconds: 2, language: "en" },
      { type: "turn_failed", turn: "b" },
    ];
    expect(textsAfter(protocol.newReader(), messages)).toEqual([
      " | we all",
      "We all | ",
      "We all | go home",
      "We all | go home yes",
      "We all go home. | yes",
      "We all go home. | yes",
      "We all go home. | ",
    ]);
  });

  test("ends with the message `ended`, and refuses a message that the API does not have", () => {
    const reader = protocol.newReader();
    expect(reader.read({ type: "ended", reason: "client", recording_id: null })).toBe("ended");
    expect(reader.read({ type: "speech_started", turn: "a", seconds: 1 })).toBe("other");
    expect(() => reader.read({ type: "unknown" })).toThrow();
  });
});

test("WhisperLiveKit's lines are final, and its buffer is partial", () => {
  const reader = liveKitProtocol(1).newReader();
  expect(reader.read({ type: "config", useAudioWorklet: true, mode: "full" })).toBe("ready");
  const lines = [
    { speaker: 1, text: " We all" },
    { speaker: -2, text: null },
    { speaker: 1, text: " go" },
  ];
  expect(reader.read({ status: "", lines, buffer_transcription: " home" })).toBe("shown");
  expect([reader.final, reader.partial]).toEqual([" We all   go", " home"]);
  expect(reader.read({ type: "ready_to_stop" })).toBe("ended");
});

describe("WhisperLive", () => {
  test("repeats its last segments, of which the completed ones are final", () => {
    const reader = whisperLiveProtocol(1, null).newReader();
    expect(reader.read({ uid: "bench", message: "SERVER_READY", backend: "faster_whisper" })).toBe("ready");
    expect(reader.read({ uid: "bench", language: "en", language_prob: 0.9 })).toBe("other");
    const first = { start: "0.000", end: "1.000", text: " We all", completed: true };
    const last = { start: "1.000", end: "2.000", text: " go", completed: false };
    reader.read({ uid: "bench", segments: [first, last] });
    expect([reader.final, reader.partial]).toEqual([" We all", " go"]);
    const more = { start: "2.000", end: "3.000", text: " home", completed: false };
    reader.read({ uid: "bench", segments: [{ ...last, completed: true }, more] });
    expect([reader.final, reader.partial]).toEqual([" We all  go", " home"]);
  });

  test("refuses a session with a status", () => {
    const reader = whisperLiveProtocol(1, null).newReader();
    expect(() => reader.read({ uid: "bench", status: "WAIT", message: 3 })).toThrow("refused: WAIT");
  });
});
