import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { TestSocket } from "../support/test-socket.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of live sessions over WebSockets", jfk, mediaToolPath);
const TIME_LIMIT = 120_000;

/** Returns a sample as PCM of 16 bits. */
function pcm(sampleRate: number): Buffer {
  const format = ["-ac", "1", "-ar", String(sampleRate), "-f", "s16le", "-"];
  return Buffer.from(Bun.spawnSync([mediaToolPath, "-v", "error", "-i", jfk, ...format]).stdout);
}

/** Divides sound into frames of 100 ms. */
function* framesOf(sound: Buffer, sampleRate: number) {
  const bytes = sampleRate / 5;
  for (let at = 0; at < sound.length; at += bytes) yield new Uint8Array(sound.subarray(at, at + bytes));
}

const ofAnswer = /country can do for you.*can do for your country/i;

/** The tests run in order on one data directory. */
describe.if(ready)("live sessions", () => {
  const server = new TestServer();
  let client: TestClient;
  beforeAll(async () => {
    await server.start();
    client = server.client("live");
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (path: string) =>
    TestSocket.open(server.origin.replace("http", "ws") + path, { headers: { authorization: `Bearer ${client.key}` } });
  const textOf = (socket: TestSocket) =>
    socket.messages.flatMap(({ segment }) => (segment === undefined ? [] : [Object(segment).text])).join(" ");

  test(
    "give the words of sound, in final segments that join, and become recordings",
    server.showingLog(async () => {
      using socket = await open("/api/public/v1/live?name=Kennedy&sample_rate=16000");
      for (const frame of framesOf(pcm(16_000), 16_000)) socket.send(frame);
      socket.send({ type: "end" });
      const { reason, recording_id } = await socket.next("ended");
      expect(reason).toBe("client");
      expect(await socket.closed).toEqual([1000, "The session has ended."]);
      expect(textOf(socket)).toMatch(ofAnswer);
      const numbers = socket.messages.flatMap(({ segment }) => (segment === undefined ? [] : [Object(segment).number]));
      expect(numbers).toEqual(numbers.map((_, index) => index));
      const recording = await client.fetch(`/transcriptions/${recording_id}`);
      expect(await recording.json()).toMatchObject({ source: { type: "file", name: "Kennedy" } });
    }),
    TIME_LIMIT,
  );

  test(
    "give the words of sound to a client of OpenAI's API, in deltas that join to the transcript, and leave nothing",
    server.showingLog(async () => {
      using socket = await open("/v1/realtime?intent=transcription");
      const input = { transcription: { model: "gpt-4o-transcribe", language: "en" }, turn_detection: null };
      socket.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
      for (const frame of framesOf(pcm(24_000), 24_000)) {
        socket.send({ type: "input_audio_buffer.append", audio: Buffer.from(frame).toString("base64") });
      }
      socket.send({ type: "input_audio_buffer.commit" });
      const { transcript, usage } = await socket.next("conversation.item.input_audio_transcription.completed");
      const deltas = socket.messages.filter(({ type }) => type.endsWith(".delta")).map(({ delta }) => delta);
      expect(deltas.join("")).toBe(String(transcript));
      expect(transcript).toMatch(ofAnswer);
      const { type, seconds } = Object(usage);
      expect([type, Math.round(seconds)]).toEqual(["duration", 11]);
      socket.send({ type: "input_audio_buffer.commit", event_id: "again" });
      expect((await socket.next("error")).error).toMatchObject({
        ...{ code: "input_audio_buffer_commit_empty", event_id: "again" },
      });
    }),
    TIME_LIMIT,
  );

  test(
    "open by a client secret in a browser's way, with speech detection and G.711",
    server.showingLog(async () => {
      const session = { type: "transcription", audio: { input: { format: { type: "audio/pcmu" } } } };
      const answer = await fetch(`${server.origin}/v1/realtime/client_secrets`, {
        method: "POST",
        headers: { authorization: `Bearer ${client.key}` },
        body: JSON.stringify({ session }),
      });
      const { value } = Object(await answer.json());
      using socket = await TestSocket.open(`${server.origin.replace("http", "ws")}/v1/realtime`, {
        protocols: ["realtime", `openai-insecure-api-key.${value}`],
      });
      const sound = Bun.spawnSync([
        ...[mediaToolPath, "-v", "error", "-i", jfk, "-ac", "1", "-ar", "8000", "-f", "mulaw", "-"],
      ]).stdout;
      socket.send({ type: "input_audio_buffer.append", audio: Buffer.from(sound).toString("base64") });
      // Silence ends the last turn.
      socket.send({ type: "input_audio_buffer.append", audio: Buffer.alloc(16_000, 0xff).toString("base64") });
      let text = "";
      while (!ofAnswer.test(text)) {
        const { transcript } = await socket.next("conversation.item.input_audio_transcription.completed");
        text += ` ${transcript}`;
      }
      expect(socket.messages.map(({ type }) => type)).toContain("input_audio_buffer.speech_stopped");
    }),
    TIME_LIMIT,
  );

  test(
    "are closed with 1001 when the server stops, and resume after its start without a lost word",
    server.showingLog(async () => {
      const sound = [...framesOf(pcm(16_000), 16_000)];
      using first = await open("/api/public/v1/live?turns=manual");
      const { id } = await first.next("session");
      for (const frame of sound.slice(0, 50)) first.send(frame);
      await first.next("partial");
      await server.stop();
      expect((await first.closed)[0]).toBe(1001);
      expect(first.messages.at(-1)).toMatchObject({ type: "ended", reason: "stopping" });
      await server.start();
      using second = await open(`/api/public/v1/live?resume=${id}&from_segment=0`);
      const { received_seconds, segments } = await second.next("session");
      expect(received_seconds).toBe(5);
      for (const frame of sound.slice(50)) second.send(frame);
      second.send({ type: "end" });
      await second.next("ended");
      const resumed = (segments as { text: string }[]).map(({ text }) => text);
      expect([...resumed, textOf(second)].join(" ")).toMatch(ofAnswer);
    }),
    2 * TIME_LIMIT,
  );
});
