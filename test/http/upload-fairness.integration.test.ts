import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { UPLOAD_PACE } from "../../src/http/shared/upload/index.ts";
import { createHead, FILE_PART, post, SlowUpload, someUrl } from "../support/forms.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

setDefaultTimeout(60_000);

const megabyte = 1_000_000;
const jfk = samplePath("jfk.mp3");
const ready = available("tests of uploads beside other accounts", ffmpegPath, jfk);

/** Returns the bytes that unfinished uploads have written. */
function receivedBytes({ dataDirectory: { incoming } }: ApiServer): number {
  return readdirSync(incoming).reduce(
    (sum, name) => sum + (statSync(join(incoming, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** A server on a disk with the given free space, which uploads use up as they are written. */
function serverWith(freeBytes: number): ApiServer {
  const real = statfsSync("/");
  const look = (): StatsFs => ({
    ...real,
    ...{ bsize: 1, blocks: 20_000 * megabyte, bavail: freeBytes - receivedBytes(server) },
    ...{ files: 0, ffree: 0 },
  });
  const server = new ApiServer({ disk: { look, reserveBytes: 0 }, uploadBytes: 500 * megabyte });
  return server;
}

/** Begins a create with a Content-Length of which 20 kB arrive. Returns the first line of its answer, if there is one. */
async function openUpload(server: ApiServer, client: KeyClient, { key, bytes }: { key: string; bytes: number }) {
  let answer = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port,
    socket: {
      data: (_, piece) => {
        answer += piece.toString();
      },
    },
  });
  socket.write(createHead(client.key, bytes, key) + FILE_PART + "x".repeat(20_000));
  return {
    get code() {
      return /"error":"(\w+)"/.exec(answer)?.[1] ?? null;
    },
    [Symbol.dispose]: () => void socket.terminate(),
  };
}

const readyz = async (server: ApiServer) => (await fetch(`${server.origin}/readyz`)).status;

describe.if(ready)("uploads of one account", () => {
  test("with a large Content-Length under a known Idempotency-Key take five places, and nothing from another account", async () => {
    using server = serverWith(6000 * megabyte);
    const attacker = server.client("attacker");
    expect((await post(attacker, {}, "known")).status).toBe(422);
    using uploads = new DisposableStack();
    const opened: Awaited<ReturnType<typeof openUpload>>[] = [];
    for (let count = 0; count < 129; count++) {
      opened.push(uploads.use(await openUpload(server, attacker, { key: "known", bytes: 400 * megabyte })));
    }
    const refused = () => opened.filter(({ code }) => code !== null);
    while (refused().length < 124 || server.filesIn("incoming").length < 5) await Bun.sleep(5);
    expect(new Set(refused().map(({ code }) => code))).toEqual(new Set(["concurrency_limit"]));
    expect([refused().length, server.filesIn("incoming").length]).toEqual([124, 5]);
    expect((await server.client("other").send(jfk)).status).toBe(201);
    expect(await readyz(server)).toBe(200);
  });

  test("end with 503 beyond a fifth of the free disk space, while another account's create and /readyz are answered", async () => {
    using server = serverWith(50 * megabyte);
    const greedy = server.client("greedy");
    const file = new Uint8Array(8 * megabyte);
    const first = await SlowUpload.begin(server, greedy, file);
    const second = await SlowUpload.begin(server, greedy, file);
    // Halves of 4 MB arrive of both. With the whole second one they would be 12 MB; a fifth of the disk is 10 MB.
    while (receivedBytes(server) < 7.9 * megabyte) await Bun.sleep(2);
    const refused = await second.finish();
    const { error, message } = await errorOf(refused, 503);
    expect([error, refused.headers.get("retry-after")]).toEqual(["service_unavailable", "60"]);
    expect(message).toContain("when other uploads of this account have finished");
    expect((await server.client("other").send(jfk)).status).toBe(201);
    expect(await readyz(server)).toBe(200);
    await first.vanish();
    while (server.filesIn("incoming").length > 0) await Bun.sleep(2);
    expect((await greedy.send(jfk)).status).toBe(201);
  });

  test("end with 503 before a byte is read if their Content-Length does not fit now, and with 413 if it never fits", async () => {
    using server = serverWith(50 * megabyte);
    const client = server.client("greedy");
    using now = await openUpload(server, client, { key: "a", bytes: 11 * megabyte });
    using ever = await openUpload(server, client, { key: "b", bytes: 600 * megabyte });
    while (now.code === null || ever.code === null) await Bun.sleep(2);
    expect([now.code, ever.code]).toEqual(["service_unavailable", "file_too_large"]);
    expect(server.filesIn("incoming")).toEqual([]);
    expect((await client.send(jfk)).status).toBe(201);
  });
});

describe.if(ready)("a replay", () => {
  test("is answered while the account's quota of creates and its places are used up by recordings", async () => {
    using server = new ApiServer({ recordingsPerAccount: 2, limits: { creates_per_hour: 2 } });
    const client = server.client("first");
    for (const key of ["a", "b"]) expect((await post(client, { url: someUrl }, key)).status).toBe(201);
    for (const key of ["a", "b", "a"]) {
      const replay = await post(client, { url: someUrl }, key);
      expect([replay.status, replay.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    }
    server.limits = { ...server.limits, recordings_per_account: 0 };
    expect((await post(client, { url: someUrl }, "a")).status).toBe(201);
  });

  test("takes a place among the uploads in progress until it is answered", async () => {
    using server = new ApiServer({ recordingsPerAccount: 2 });
    const client = server.client("first");
    const file = await Bun.file(jfk).bytes();
    expect((await post(client, { url: someUrl }, "link")).status).toBe(201);
    expect((await post(client, { file: new Blob([file]) }, "file")).status).toBe(201);
    const replays = [];
    for (let count = 0; count < 2; count++) replays.push(await SlowUpload.begin(server, client, file, "file"));
    expect(await refusalOf(await post(client, { url: someUrl }, "link"))).toBe("409 concurrency_limit");
    expect((await post(server.client("second"), { url: someUrl }, "link")).status).toBe(201);
    for (const replay of replays) {
      const answer = await replay.finish();
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    }
    expect((await post(client, { url: someUrl }, "link")).headers.get("idempotency-replayed")).toBe("true");
  });

  test("takes a place that a create then does not get", async () => {
    using server = new ApiServer({ recordingsPerAccount: 2 });
    const client = server.client("first");
    const file = await Bun.file(jfk).bytes();
    const created = await post(client, { file: new Blob([file]) }, "file");
    const { id } = (await created.json()) as { id: string };
    server.recordings.fail(id, { reason: "no_speech" });
    const replays = [];
    for (let count = 0; count < 2; count++) replays.push(await SlowUpload.begin(server, client, file, "file"));
    expect(await refusalOf(await post(client, { url: someUrl }))).toBe("409 concurrency_limit");
    await replays[0]?.finish();
    expect((await post(client, { url: someUrl })).status).toBe(201);
    expect((await replays[1]?.finish())?.status).toBe(201);
  });
});

describe("an upload that is too slow", () => {
  test.concurrent.each(["a create", "a replay"])(
    "is answered 400 and its connection is closed, for %s",
    async (what) => {
      const pace = { ...UPLOAD_PACE };
      using server = new ApiServer({ pace, recordingsPerAccount: 1 });
      const client = server.client("first");
      if (what === "a replay") expect((await post(client, {}, "the-key")).status).toBe(422);
      Object.assign(pace, { graceSeconds: 1, bytesPerSecond: 1 << 20, silenceSeconds: 1 });
      // Two answers never arrive, so only the closed connection ends this wait.
      const answer = await server.raw(`${createHead(client.key, 5_000_000, "the-key")}${FILE_PART}some bytes`, 2);
      expect(answer).toStartWith("HTTP/1.1 400 ");
      expect(answer.toLowerCase()).toContain("connection: close");
      expect(answer).toContain('"error":"bad_request"');
      expect(answer).toContain("too slow");
      expect(server.filesIn("incoming")).toEqual([]);
      Object.assign(pace, UPLOAD_PACE);
      // Place and key are free again; a replay still has its first answer.
      expect((await post(client, {}, "the-key")).status).toBe(422);
    },
  );
});

/** The server does not wait for a body that no handler reads. */
describe("a body that never arrives is not awaited", () => {
  test.each([
    ["POST", "/api/public/v1/transcriptions", "", "401"],
    ["POST", "/api/public/v1/transcriptions", "Bearer none", "401"],
    ["GET", "/api/public/v1/transcriptions", "valid", "200"],
    ["DELETE", "/api/public/v1/transcriptions/0", "valid", "404"],
    ["PUT", "/api/public/v1/transcriptions", "valid", "405"],
    ["POST", "/api/public/v1/nothing", "valid", "404"],
    ["POST", "/readyz", "", "405"],
    ["GET", "/healthz", "", "200"],
  ])("with %s %s, authorization %p: %s", async (method, path, authorization, status) => {
    using server = new ApiServer();
    const { key } = server.client("first");
    for (const type of ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const lines = [
        `${method} ${path} HTTP/1.1`,
        "Host: localhost",
        ...(authorization === ""
          ? []
          : [`Authorization: ${authorization === "valid" ? `Bearer ${key}` : authorization}`]),
        `Content-Type: ${type}`,
        "Content-Length: 1000000",
      ];
      expect(await server.raw(`${lines.join("\r\n")}\r\n\r\n{`)).toStartWith(`HTTP/1.1 ${status} `);
    }
  });
});
