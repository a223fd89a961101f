import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { available, corpusPath, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { spokenText, type TestClient } from "../../harness/client.ts";
import { decode } from "../../harness/diarized-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { errorRate, plainWords } from "../../harness/wer.ts";
import { englishWordErrors } from "../support/english-words.ts";
import { TestSocket } from "../support/test-socket.ts";
import { startServerForSuite } from "./suite-server.ts";

const speeches = [
  {
    path: samplePath("jfk.mp3"),
    text: "and so my fellow americans ask not what your country can do for you ask what you can do for your country",
  },
  {
    path: corpusPath("single/en-libri-1688-142285-0004.flac"),
    text: "his statement of having been a shop boy was the thing i liked best of all",
  },
];
const ready = available("e2e tests of live sessions", mediaToolPath, ...speeches.map(({ path }) => path));

const BYTES_PER_SECOND = 32_000;
/** Sound of one message. */
const FRAME_SECONDS = 0.1;
/** Maximum rate of word errors of live words: those of base are a few percent on the whole recordings. */
const MAX_ERRORS = 0.25;

describe.if(ready)("live sessions", () => {
  const suite = startServerForSuite("live", { TRANSCRIBE_LIVE_SESSIONS: "3" });
  const { server } = suite;
  const directory = temporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());

  /** Returns the sound of a recording with a second of silence behind it. */
  const soundOf = async (path: string) => {
    const { path: pcm } = await decode(path, join(directory.path, `${Bun.randomUUIDv7()}.pcm`));
    return Buffer.concat([readFileSync(pcm), Buffer.alloc(BYTES_PER_SECOND)]);
  };
  const open = (client: TestClient, query: string) => {
    const headers = { authorization: `Bearer ${client.key}` };
    return TestSocket.open(`${client.baseUrl.replace("http", "ws")}/live?${query}`, { headers });
  };
  const textOf = (socket: TestSocket) =>
    socket.messages.flatMap((each) => (each.type === "turn_completed" ? [String(each.text)] : [])).join(" ");
  const rows = (table: string) => {
    using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
    return database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
  };

  test(
    "have the words of their speech, and become recordings or leave nothing",
    server.showingLog(async () => {
      const kept = speeches.map(async ({ path, text }) => {
        using socket = await open(suite.client, "language=en&name=Speech");
        await send(socket, await soundOf(path), 8);
        socket.send({ type: "end" });
        const { reason, recording_id: id } = await socket.next("ended");
        expect(reason).toBe("client");
        expect(await socket.closed).toEqual([1000, expect.any(String)]);
        expect(errorRate([englishWordErrors(text, textOf(socket))])).toBeLessThan(MAX_ERRORS);
        const ended = await suite.client.waitUntilEnded(String(id));
        expect(ended).toMatchObject({ status: "completed", language: "en", source: { name: "Speech" } });
        const recognized = spokenText(await suite.client.segments(ended.id));
        expect(errorRate([englishWordErrors(text, recognized)])).toBeLessThan(MAX_ERRORS);
      });
      const unkept = (async () => {
        using socket = await open(suite.client, "keep=false");
        await send(socket, await soundOf(samplePath("jfk.mp3")), 8);
        socket.send({ type: "end" });
        expect(await socket.next("ended")).toMatchObject({ reason: "client", recording_id: null });
        expect(plainWords(textOf(socket)).join(" ")).toContain("ask not what your country can do for you");
      })();
      await Promise.all([...kept, unkept]);
      expect(rows("live_sessions")).toBe(2);
      expect(rows("recordings")).toBe(2);
      expect(readdirSync(join(server.dataDirectory, "live"))).toEqual([]);
    }),
    180_000,
  );

  test(
    "lose at most a second when the server is killed, and are resumed where its file ends",
    server.showingLog(async () => {
      const [speech = { path: "", text: "" }] = speeches;
      const sound = await soundOf(speech.path);
      const before = await open(suite.client, "language=en");
      const { id } = await before.next("session");
      const killed = Promise.withResolvers<void>();
      let sentBytes = 0;
      const sending = send(before, sound, 1, (bytes) => {
        sentBytes = bytes;
        if (bytes >= 6 * BYTES_PER_SECOND) killed.resolve();
        return bytes < 6 * BYTES_PER_SECOND;
      });
      await killed.promise;
      await server.killHard();
      await sending;
      const path = join(server.dataDirectory, "live", String(id), "sound.pcm");
      const stored = readFileSync(path);
      expect(sentBytes - stored.length).toBeLessThanOrEqual(BYTES_PER_SECOND);
      expect(stored.equals(sound.subarray(0, stored.length))).toBe(true);
      before[Symbol.dispose]();

      await server.restartOnSamePort();
      using after = await open(suite.client, `resume=${id}&from_segment=0`);
      const session = await after.next("session");
      expect(session.received_seconds).toBe(statSync(path).size / BYTES_PER_SECOND);
      await send(after, sound.subarray(stored.length), 4);
      after.send({ type: "end" });
      const { recording_id: recordingId } = await after.next("ended");
      const segments = (session.segments as { text: string }[]).map(({ text }) => text);
      const text = [...segments, textOf(after)].join(" ");
      expect(errorRate([englishWordErrors(speech.text, text)])).toBeLessThan(MAX_ERRORS);
      const uploaded = readFileSync(join(server.dataDirectory, "uploads", String(recordingId)));
      expect(uploaded.subarray(44).equals(sound)).toBe(true);
      expect(existsSync(path)).toBe(false);
      expect(await suite.client.waitUntilEnded(String(recordingId))).toMatchObject({ status: "completed" });
    }),
    180_000,
  );
});

/**
 * Sends sound at a multiple of its pace.
 * @param onSent called with the bytes so far; returns whether to continue
 */
async function send(
  socket: TestSocket,
  sound: Uint8Array,
  pace: number,
  onSent: (bytes: number) => boolean = () => true,
): Promise<void> {
  const startedAt = performance.now();
  const frame = FRAME_SECONDS * BYTES_PER_SECOND;
  for (let at = 0; at < sound.length; at += frame) {
    socket.send(sound.subarray(at, at + frame));
    if (!onSent(at + frame)) return;
    await Bun.sleep(Math.max(0, startedAt + ((at + frame) / BYTES_PER_SECOND / pace) * 1000 - performance.now()));
  }
}
