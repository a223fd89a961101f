import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, recordingsFolder, samplePath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { createHead, FILE_PART } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of the limits of POST /transcriptions", ffmpegPath, jfk);

describe.if(ready)("POST /transcriptions", () => {
  test("refuses a file above the limit with 422 under file, and accepts one at the limit", async () => {
    using server = new ApiServer({ uploadBytes: Bun.file(jfk).size - 1 });
    const { error, errors } = await errorOf(await server.client("first").send(jfk), 422);
    expect([error, Object.keys(errors ?? {})]).toEqual(["validation_failed", ["file"]]);
    expect(server.filesIn("incoming")).toEqual([]);
    using roomy = new ApiServer({ uploadBytes: Bun.file(jfk).size });
    expect((await roomy.client("first").send(jfk)).status).toBe(201);
  });

  const tooLong = [1000 + 64 * 1024 * 1024 + 1, 5_000_000_000, 9_000_000_000_000];
  test.each(tooLong)(
    "refuses a body of %d bytes with 413 by its Content-Length, before a byte is sent",
    async (bytes) => {
      using server = new ApiServer({ uploadBytes: 1000 });
      const answer = await server.raw(createHead(server.client("first").key, bytes));
      expect(answer).toStartWith("HTTP/1.1 413");
      expect(answer).toContain('"error":"file_too_large"');
      expect(answer.toLowerCase()).toContain("x-request-id:");
    },
  );

  test("refuses a chunked body with 413 as soon as it exceeds the limit", async () => {
    using server = new ApiServer({ uploadBytes: 1000 });
    const { key, baseUrl } = server.client("first");
    const piece = new Uint8Array(1024 * 1024);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent++ === 0) controller.enqueue(Buffer.from(FILE_PART));
        else if (sent < 200) controller.enqueue(piece);
        else controller.close();
      },
    });
    const headers = { authorization: `Bearer ${key}`, "content-type": "multipart/form-data; boundary=x" };
    const response = await fetch(`${baseUrl}/transcriptions`, { method: "POST", body, headers });
    expect((await errorOf(response, 413)).error).toBe("file_too_large");
    expect(server.filesIn("incoming")).toEqual([]);
  });

  test("leaves nothing behind when the connection is lost during the upload, and releases its place", async () => {
    using server = new ApiServer({ recordingsPerAccount: 1 });
    const client = server.client("first");
    const socket = await Bun.connect({ hostname: "127.0.0.1", port: server.port, socket: { data() {} } });
    socket.write(createHead(client.key, 1_000_000) + FILE_PART + "x".repeat(20_000));
    while (server.filesIn("incoming").length === 0) await Bun.sleep(5);
    expect((await errorOf(await client.send(jfk), 409)).error).toBe("concurrency_limit");
    socket.terminate();
    // The file is removed before the place is released. The lost request has ended when it is logged.
    while (!server.log.some(({ event, clientClosed }) => event === "http.request" && clientClosed)) await Bun.sleep(5);
    expect([server.filesIn("incoming"), server.queued]).toEqual([[], []]);
    expect((await client.send(jfk)).status).toBe(201);
  });

  test("refuses a recording that is too long according to its container with 422 under file", async () => {
    using server = new ApiServer({ recordingSeconds: 5 });
    const response = await server.client("first").send(samplePath("sample.wav"));
    expect(Object.keys((await errorOf(response, 422)).errors ?? {})).toEqual(["file"]);
  });

  test("accepts a recording whose container claims 30 hours for six seconds of sound", async () => {
    using server = new ApiServer();
    const path = join(recordingsFolder, "cases/late-clock-fragments.mp4");
    expect((await server.client("first").send(path)).status).toBe(201);
  });

  test("accepts five open recordings of an account and refuses the sixth with 409 until one has ended; another account's is accepted", async () => {
    using server = new ApiServer();
    const client = server.client("first");
    const ids = [];
    for (let count = 0; count < 5; count++) ids.push((await client.create(jfk)).id);
    expect((await errorOf(await client.send(jfk), 409)).error).toBe("concurrency_limit");
    server.recordings.claim(ids[0] ?? "");
    expect((await errorOf(await client.send(jfk), 409)).error).toBe("concurrency_limit");
    expect((await server.client("second").send(jfk)).status).toBe(201);
    server.recordings.fail(ids[0] ?? "", { reason: "no_speech" });
    expect((await client.send(jfk)).status).toBe(201);
    expect((await errorOf(await client.send(jfk), 409)).error).toBe("concurrency_limit");
  });

  test("never refuses a client that keeps five recordings open and sends the next when one has ended", async () => {
    using server = new ApiServer({ limits: { creates_per_hour: 1000 } });
    const client = server.client("first");
    const lane = async () => {
      for (let round = 0; round < 10; round++) {
        server.recordings.fail((await client.create(jfk)).id, { reason: "no_speech" });
      }
    };
    await Promise.all(Array.from({ length: 5 }, lane));
    expect(server.queued).toHaveLength(50);
  });

  test("accepts five of ten simultaneous creates, and refuses five with 409", async () => {
    using server = new ApiServer();
    const client = server.client("first");
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.send(jfk)));
    const statuses = answers.map((response) => response.status).sort();
    expect(statuses).toEqual([...Array(5).fill(201), ...Array(5).fill(409)]);
    expect(server.filesIn("uploads")).toHaveLength(5);
    expect(server.filesIn("incoming")).toEqual([]);
  });

  test("gives a refused upload no place", async () => {
    using server = new ApiServer({ recordingsPerAccount: 1 });
    const client = server.client("first");
    for (let count = 0; count < 3; count++) {
      expect((await client.send(jfk, { language: "xx" })).status).toBe(422);
    }
    expect((await client.send(jfk)).status).toBe(201);
  });
});
