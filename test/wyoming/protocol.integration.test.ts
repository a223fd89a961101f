import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LiveError } from "../../src/live/index.ts";
import { programVersion } from "../../src/program/index.ts";
import { TestWyoming } from "./test-wyoming.ts";
import type { WyomingClient } from "./wyoming-client.ts";

const format = { rate: 16_000, width: 2, channels: 1 };
/** A tenth of a second of sound. */
const sound = Buffer.alloc(3200, 7);

let wyoming: TestWyoming;
let client: WyomingClient;

beforeEach(async () => {
  wyoming = await TestWyoming.start();
  client = await wyoming.connect();
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  await wyoming[Symbol.asyncDispose]();
});

describe("describe", () => {
  test("is answered with the model in use, its languages and its origin", async () => {
    client.send("describe");
    expect(await client.next()).toEqual({
      type: "info",
      data: {
        asr: [
          {
            name: "transcribe",
            description: "Transcribe",
            attribution: { name: "Transcribe", url: "" },
            installed: true,
            version: programVersion,
            supports_transcript_streaming: true,
            requires_external_vad: true,
            models: [
              {
                name: "whisper-base",
                description: "Whisper base",
                attribution: { name: "Whisper base", url: "https://example.org/whisper" },
                installed: true,
                version: null,
                languages: ["de", "en", "yue", "zh"],
              },
            ],
          },
        ],
        ...{ tts: [], handle: [], intent: [], wake: [], mic: [], snd: [] },
      },
    });
  });

  test("tells of a model that was chosen meanwhile", async () => {
    wyoming.model = { ...wyoming.model, id: "whisper-tiny" };
    client.send("describe");
    expect(await client.next()).toMatchObject({ data: { asr: [{ models: [{ name: "whisper-tiny" }] }] } });
  });
});

describe("ping", () => {
  test("is answered with pong and its text", async () => {
    client.send("ping", { text: "still there?" });
    client.send("ping");
    expect(await client.next()).toEqual({ type: "pong", data: { text: "still there?" } });
    expect(await client.next()).toEqual({ type: "pong", data: {} });
  });
});

describe("events that the protocol has for other services", () => {
  test("are ignored, with their payloads", async () => {
    client.send("select-program", { name: "transcribe" });
    client.send("synthesize", { text: "hello" }, Buffer.from("payload"));
    client.send("a-new-event");
    client.send("ping");
    expect(await client.next()).toEqual({ type: "pong", data: {} });
  });
});

describe("an utterance", () => {
  test("is one session of the account, of which nothing is kept", async () => {
    client.send("transcribe", { language: "de-DE", transcript_names: ["Küchenlampe"] });
    client.send("audio-start", format);
    client.send("audio-chunk", format, sound);
    client.send("audio-chunk", format, sound);
    client.send("audio-stop");
    await client.until("transcript-stop");
    const session = await wyoming.live.session();
    expect(session.options).toEqual({
      format: { encoding: "pcm16", sampleRate: 16_000 },
      language: "de",
      prompt: "Küchenlampe",
      turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 },
      keep: false,
      name: null,
    });
    const { account, workspaceId, holder } = session.sender;
    expect({ account: account.name, workspaceId, holder }).toEqual({
      account: "home",
      workspaceId: null,
      holder: "wyoming",
    });
    expect(session.sound.equals(Buffer.concat([sound, sound]))).toBe(true);
    expect(session.names).toEqual(["write", "end"]);
    expect(wyoming.live.opened).toHaveLength(1);
  });

  test("streams final words while sound arrives, which join to its transcript", async () => {
    client.send("transcribe", { language: "en" });
    client.send("audio-start", format);
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.emit({ type: "speechStarted", turn: "turn", seconds: 0 });
    session.emit({ type: "partial", turn: "turn", text: "Turn of", words: [] });
    session.final(" Turn on");
    expect(await client.next()).toEqual({ type: "transcript-start", data: { language: "en" } });
    expect(await client.next()).toEqual({ type: "transcript-chunk", data: { text: "Turn on" } });
    session.final(" the light.");
    expect(await client.next()).toEqual({ type: "transcript-chunk", data: { text: " the light." } });
    session.turnCompleted("en");
    session.onEnd = () => {
      session.final(" Please.");
      session.turnCompleted("en");
      session.finish();
    };
    client.send("audio-stop");
    expect(await client.until("transcript-stop")).toEqual([
      { type: "transcript-chunk", data: { text: " Please." } },
      { type: "transcript", data: { text: "Turn on the light. Please.", language: "en" } },
      { type: "transcript-stop", data: {} },
    ]);
    expect(await wyoming.metric('transcribe_wyoming_utterances_total{outcome="completed"}')).toBe(1);
  });

  test("joins words without spaces in languages that have none", async () => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.final("請打開");
    session.final("電燈");
    session.turnCompleted("zh");
    client.send("audio-stop");
    const events = await client.until("transcript");
    expect(events.at(-1)?.data).toEqual({ text: "請打開電燈", language: "zh" });
  });

  test("has the language that was spoken for the longest time, unless the client named one", async () => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.turnCompleted("en", 2);
    session.turnCompleted("de", 3);
    session.turnCompleted("en", 2);
    session.turnCompleted(null, 60);
    client.send("audio-stop");
    expect((await client.until("transcript")).at(-1)?.data).toEqual({ text: "", language: "en" });
  });

  test("returns the context of its request with the transcript", async () => {
    client.send("transcribe", { context: { conversation: "7" } });
    client.send("audio-chunk", format, sound);
    client.send("audio-stop");
    expect((await client.until("transcript")).at(-1)?.data).toEqual({ text: "", context: { conversation: "7" } });
  });

  test.each([
    ["with audio-start alone", true],
    ["without any sound", false],
  ])("%s has an empty transcript and opens no session", async (_, announced) => {
    if (announced) client.send("audio-start", format);
    client.send("audio-stop");
    expect(await client.until("transcript-stop")).toEqual([
      { type: "transcript-start", data: {} },
      { type: "transcript", data: { text: "" } },
      { type: "transcript-stop", data: {} },
    ]);
    expect(wyoming.live.opened).toEqual([]);
  });

  test("is followed by others on the same connection, each with its own wishes", async () => {
    client.send("transcribe", { language: "de" });
    for (let utterance = 0; utterance < 2; utterance += 1) {
      client.send("audio-start", format);
      client.send("audio-chunk", format, sound);
      client.send("audio-stop");
    }
    await client.until("transcript-stop");
    await client.until("transcript-stop");
    expect(wyoming.live.opened.map(({ options }) => options.language)).toEqual(["de", null]);
  });

  test("may have chunks that rely on the format of audio-start", async () => {
    client.send("audio-start", { rate: 8000, width: 1, channels: 2 });
    client.send("audio-chunk", {}, Buffer.from([128, 128, 255, 255]));
    client.send("audio-stop");
    await client.until("transcript-stop");
    const session = await wyoming.live.session();
    expect(session.options.format).toEqual({ encoding: "pcm16", sampleRate: 8000 });
    expect(session.sound.equals(Buffer.from([0x00, 0x00, 0x00, 0x7f]))).toBe(true);
  });

  test("is replaced by another audio-start", async () => {
    client.send("audio-chunk", format, sound);
    const first = await wyoming.live.session(0);
    client.send("audio-start", { ...format, rate: 48_000 });
    client.send("audio-chunk", { ...format, rate: 48_000 }, sound);
    const second = await wyoming.live.session(1);
    expect(first.names).toEqual(["write", "clear", "end"]);
    expect(second.options.format.sampleRate).toBe(48_000);
    expect(await wyoming.metric('transcribe_wyoming_utterances_total{outcome="abandoned"}')).toBe(1);
  });

  test("gets its transcript although the client closed its side after audio-stop", async () => {
    client.send("audio-chunk", format, sound);
    client.send("audio-stop");
    client.socket.end();
    const session = await wyoming.live.session();
    await session.called("end");
    expect((await client.until("transcript-stop")).map(({ type }) => type)).toEqual([
      "transcript-start",
      "transcript",
      "transcript-stop",
    ]);
    await client.ended;
  });

  test("ends at once when the client leaves before audio-stop", async () => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    client.socket.destroy();
    await session.called("end");
    expect(session.names).toEqual(["write", "clear", "end"]);
    expect(await wyoming.metric('transcribe_wyoming_utterances_total{outcome="abandoned"}')).toBe(1);
  });

  test("of which nobody awaits the transcript any more ends, too", async () => {
    client.send("audio-chunk", format, sound);
    const session = await wyoming.live.session();
    session.onEnd = () => {};
    client.send("audio-stop");
    await session.called("end");
    client.socket.resetAndDestroy();
    await session.called("clear");
    expect(await wyoming.metric('transcribe_wyoming_utterances_total{outcome="abandoned"}')).toBe(1);
  });
});

describe("sound that a session does not take yet", () => {
  test("waits, and nothing of it is lost", async () => {
    const recording = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    let refusals = 3;
    wyoming.live.onOpen = (session) => {
      session.onWrite = () => {
        if (refusals-- > 0) throw new LiveError({ kind: "too_fast" });
      };
    };
    client.send("audio-chunk", format, recording);
    client.send("audio-stop");
    await client.until("transcript-stop");
    expect((await wyoming.live.session()).sound.equals(recording)).toBe(true);
    expect(refusals).toBeLessThan(0);
  });
});

test("a server that stops ends utterances with an error, and accepts no more connections", async () => {
  client.send("audio-chunk", format, sound);
  const session = await wyoming.live.session();
  const closed = wyoming.close();
  expect(await client.next()).toMatchObject({ type: "error", data: { code: "unavailable" } });
  expect(await client.next()).toBeNull();
  client.socket.end();
  await closed;
  expect(session.names).toEqual(["write", "clear", "end"]);
  await using late = await wyoming.connect();
  expect(await late.next()).toBeNull();
});
