import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { available, ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import { playbackCopySchema, waveformSchema } from "../../../src/console/contract/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of playback in the console", ffmpegPath, jfk);

/** Enters a recording of eleven seconds and waits for its playback copy. @returns its id */
async function prepared(server: ConsoleServer, operator: Browser): Promise<string> {
  const { api } = server;
  const id = api.enterProcessing(api.account("first").id);
  copyFileSync(jfk, api.dataDirectory.localAudio.pathOf(id));
  api.recordings.describe(id, { durationSeconds: 11 });
  api.recordings.complete(id, []);
  while ((await operator.read(`/recordings/${id}/playback`, playbackCopySchema)).state !== "ready") await Bun.sleep(10);
  return id;
}

describe.if(ready)("a recording with its audio", () => {
  test("gets a playback copy on request, which plays from any position", async () => {
    using server = new ConsoleServer();
    const operator = await server.operator();
    const id = await prepared(server, operator);
    const path = `/recordings/${id}/audio`;
    const whole = await operator.data(path);
    expect(whole.headers.get("content-type")).toBe("audio/webm");
    expect(whole.headers.get("accept-ranges")).toBe("bytes");
    const bytes = Buffer.from(await whole.bytes());
    expect(bytes.length).toBeGreaterThan(10_000);
    const etag = whole.headers.get("etag") ?? "";
    const cases: [Record<string, string>, number, string | null, Buffer | null][] = [
      [{ Range: "bytes=0-99" }, 206, `bytes 0-99/${bytes.length}`, bytes.subarray(0, 100)],
      [{ Range: "bytes=5000-" }, 206, `bytes 5000-${bytes.length - 1}/${bytes.length}`, bytes.subarray(5000)],
      [{ Range: "bytes=-7" }, 206, `bytes ${bytes.length - 7}-${bytes.length - 1}/${bytes.length}`, bytes.subarray(-7)],
      [{ Range: "bytes=10-99999999" }, 206, `bytes 10-${bytes.length - 1}/${bytes.length}`, bytes.subarray(10)],
      [{ Range: "bytes=99999999-" }, 416, `bytes */${bytes.length}`, null],
      [{ Range: "bytes=9-1" }, 200, null, bytes],
      [{ Range: "bytes=0-1,5-6" }, 200, null, bytes],
      [{ Range: "pieces=1-2" }, 200, null, bytes],
      [{ Range: "bytes=0-9", "If-Range": etag }, 206, `bytes 0-9/${bytes.length}`, bytes.subarray(0, 10)],
      [{ Range: "bytes=0-9", "If-Range": '"other"' }, 200, null, bytes],
    ];
    for (const [headers, status, range, expected] of cases) {
      const answer = await operator.data(path, { headers });
      expect([headers, answer.status, answer.headers.get("content-range")]).toEqual([headers, status, range]);
      const got = Buffer.from(await answer.bytes());
      if (expected !== null) expect(got.equals(expected)).toBe(true);
    }
  });

  test("shows its waveform, or a part of it", async () => {
    using server = new ConsoleServer();
    const operator = await server.operator();
    const id = await prepared(server, operator);
    const read = async (query: string) => {
      const waveform = await operator.read(`/recordings/${id}/waveform?${query}`, waveformSchema);
      return { ...waveform, peaks: Buffer.from(waveform.peaks, "base64") };
    };
    const whole = await read("");
    expect([whole.peaks_per_second, whole.start_seconds, whole.peaks.length]).toEqual([10, 0, 110]);
    expect(Math.max(...whole.peaks)).toBeGreaterThan(100);
    expect((await read("most=11")).peaks.length).toBe(11);
    const part = await read("from=2.000&to=4.500");
    expect(part.peaks.equals(whole.peaks.subarray(20, 45))).toBe(true);
    expect(part.start_seconds).toBe(2);
    for (const query of ["most=0", "most=20001", "from=-1", "from=x", "to=1e3"]) {
      expect((await operator.data(`/recordings/${id}/waveform?${query}`)).status).toBe(422);
    }
  });
});

test("a recording without its audio can't be played, and the message gives the reason", async () => {
  using server = new ConsoleServer();
  const id = await server.enterSaid("first", ["Hello."]);
  const operator = await server.operator();
  const { state, message } = await operator.read(`/recordings/${id}/playback`, playbackCopySchema);
  expect([state, message]).toEqual(["none", expect.stringContaining("retention.audio_days")]);
  for (const path of ["audio", "waveform"]) {
    expect(await operator.refusal(operator.data(`/recordings/${id}/${path}`), 409)).toBe("not_ready");
  }
});

test("the cause of a failed playback copy, which may name a path, is for operators only", async () => {
  using server = new ConsoleServer();
  const { api } = server;
  const { id: account } = api.account("first");
  const id = api.enterProcessing(account);
  api.recordings.describe(id, { durationSeconds: 3 });
  api.recordings.complete(id, []);
  writeFileSync(api.dataDirectory.localAudio.pathOf(id), "no audio at all");
  writeFileSync(api.dataDirectory.filesOf(id).playbackDraft.directory, "a file in the way");
  const operator = await server.operator();
  const reader = await signedIn(server, "rita@example.org", "reader", ["first"]);
  const failed = async (browser: Browser) => {
    for (;;) {
      const { state, message } = await browser.read(`/recordings/${id}/playback`, playbackCopySchema);
      if (state === "failed") return message;
      await Bun.sleep(10);
    }
  };
  expect(await failed(operator)).toStartWith("The recording can't be prepared for playback: ");
  expect(await failed(reader)).toBe("The recording can't be prepared for playback. Ask the operator of the server.");
  const audio = await (await reader.data(`/recordings/${id}/audio`)).text();
  expect(audio).toContain("Ask the operator");
  expect(audio).not.toContain(api.dataDirectory.root);
});
