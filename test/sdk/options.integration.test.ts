import { afterAll, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { ApiError, BadAnswerError, Client, type ClientOptions, type Pause } from "../../sdk/typescript/src/index.ts";
import { TestClock } from "../support/cli-client.ts";

interface Received {
  readonly method: string;
  readonly key: string | null;
  readonly digest: string | null;
  readonly body: Uint8Array;
}

const folder = temporaryDirectory();
const recording = join(folder.path, "talk.wav");
writeFileSync(recording, new Uint8Array(700_000).fill(7));
const received: Received[] = [];
const answers: (() => Response)[] = [];
const stand = { id: "1", status: "completed", duration_seconds: 5 };
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const [key, digest] = ["idempotency-key", "content-digest"].map((name) => request.headers.get(name));
    received.push({ method: request.method, key: key ?? null, digest: digest ?? null, body: await request.bytes() });
    return answers.shift()?.() ?? Response.json(stand);
  },
});
const refusal = (status: number, error: string) => () => Response.json({ error, message: "No." }, { status });
const clientWith = (options: Partial<ClientOptions> = {}) =>
  new Client({ baseUrl: server.url.origin, key: "trs_x", clock: new TestClock(), ...options });
beforeEach(() => {
  received.splice(0);
  answers.splice(0);
});
afterAll(async () => {
  await server.stop(true);
  folder[Symbol.dispose]();
});

test("a verified upload has the digest of its body, and one that arrived damaged is sent again with a new key", async () => {
  const damaged = refusal(422, "uploaded_file_cannot_be_processed");
  answers.push(refusal(503, "service_unavailable"), damaged, damaged);
  await clientWith().create(recording, { verify: true });
  expect(received).toHaveLength(4);
  for (const { digest, body } of received) {
    expect(digest).toBe(`sha-256=:${createHash("sha256").update(body).digest("base64")}:`);
    expect(body.length).toBeGreaterThan(700_000);
  }
  expect(received[0]?.key).toBe(received[1]?.key ?? "");
  expect(new Set(received.map(({ key }) => key)).size).toBe(3);
});

test("a damaged upload with the program's own key is not sent again", async () => {
  answers.push(refusal(422, "uploaded_file_cannot_be_processed"));
  await expect(clientWith().create(recording, { idempotencyKey: "own" })).rejects.toBeInstanceOf(ApiError);
  expect(received.map(({ key, digest }) => [key, digest])).toEqual([["own", null]]);
});

test("an upload reports its progress up to its end", async () => {
  const shares: number[] = [];
  await clientWith().create(recording, { onUpload: (share) => shares.push(share) });
  expect(shares.length).toBeGreaterThan(3);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBe(1);
});

test("a pause is reported with its reason, and ends early when the returned promise resolves", async () => {
  const clock = Object.assign(new TestClock(), { sleep: () => new Promise<void>(() => {}) });
  answers.push(refusal(409, "concurrency_limit"), refusal(429, "rate_limited"), refusal(500, "internal_error"));
  const pauses: Pause[] = [];
  const onPause = async (pause: Pause) => void pauses.push(pause);
  await clientWith({ clock }).get("1", { onPause });
  expect(pauses.map(({ reason, milliseconds, error }) => [reason, milliseconds, error.message])).toEqual([
    ["place", 5000, "409 concurrency_limit: No."],
    ["rate", 1000, "429 rate_limited: No."],
    ["server", 1000, "500 internal_error: No."],
  ]);
});

test("an error in the report of a pause ends the call", async () => {
  answers.push(refusal(500, "internal_error"));
  const onPause = () => {
    throw new Error("enough");
  };
  await expect(clientWith().get("1", { onPause })).rejects.toThrow("enough");
  expect(received).toHaveLength(1);
});

test("a function may choose the pauses between polls from the recommended ones", async () => {
  const clock = new TestClock();
  for (const duration_seconds of [null, 3600, 3600, 3600]) {
    answers.push(() => Response.json({ ...stand, status: "processing", duration_seconds }));
  }
  const recommended: number[] = [];
  const pollSeconds = (seconds: number) => {
    recommended.push(seconds);
    return recommended.length - 1;
  };
  expect((await clientWith({ clock }).wait("1", { pollSeconds })).status).toBe("completed");
  expect(recommended).toEqual([10, 5, 10, 20, 30]);
  expect(clock.sleeps).toEqual([1000, 2000, 3000, 4000]);
});

test("answers that are not of the API are refused without a retry, and a redirect names its target", async () => {
  const pages = async () => await Array.fromAsync(clientWith().list());
  answers.push(() => Response.json({}));
  await expect(pages()).rejects.toBeInstanceOf(BadAnswerError);
  answers.push(() => new Response("<html>"));
  await expect(pages()).rejects.toBeInstanceOf(BadAnswerError);
  answers.push(() => Response.redirect("https://elsewhere.example.org/", 301));
  await expect(pages()).rejects.toMatchObject({ location: "https://elsewhere.example.org/" });
  answers.push(() => Response.json({ error: "x", message: "No.", errors: { a: 1, b: ["c"] } }, { status: 422 }));
  await expect(pages()).rejects.toMatchObject({ errors: { b: ["c"] } });
  expect(received).toHaveLength(4);
});

test("a recording that is a directory or a pipe is refused, and nothing is sent", async () => {
  const [directory, pipe] = [join(folder.path, "directory"), join(folder.path, "pipe")];
  mkdirSync(directory);
  Bun.spawnSync(["mkfifo", pipe]);
  for (const path of [directory, pipe]) await expect(clientWith().create(path)).rejects.toThrow("not a regular file");
  expect(received).toEqual([]);
});
