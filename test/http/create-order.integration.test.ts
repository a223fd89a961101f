import { describe, expect, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { createHead, FILE_PART, post, SlowUpload, someUrl } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("tests of the order of checks of POST /transcriptions", ffmpegPath, jfk);

/** Creates with several faults. The first failing check in the contract decides. */
describe.if(ready)("POST /transcriptions", () => {
  const start = async () => {
    const server = new ApiServer({ recordingsPerAccount: 2, uploadBytes: 1_000_000, limits: { creates_per_hour: 3 } });
    server.now = () => Date.parse("2026-11-21T08:00:00Z");
    const client = server.client("first");
    /** Takes all places, and uses up the quota of creates. */
    const fill = async () => {
      for (let count = 0; count < 2; count++) expect((await post(client, { url: someUrl })).status).toBe(201);
    };
    const spend = async () => {
      for (let count = 0; count < 3; count++) {
        const { id } = (await (await post(client, { url: someUrl })).json()) as { id: string };
        server.recordings.fail(id, { reason: "no_speech" });
      }
    };
    return { server, client, fill, spend };
  };
  test("checks the size before the Idempotency-Key and the limits", async () => {
    const { server, client, spend } = await start();
    using _ = server;
    await spend();
    const answer = await server.raw(createHead(client.key, 99_000_000, "not one"));
    expect(answer).toContain('"error":"file_too_large"');
  });

  test("checks the key's syntax before the limits", async () => {
    const { server, client, spend } = await start();
    using _ = server;
    await spend();
    expect(await refusalOf(await post(client, {}, "not one"))).toBe("422 validation_failed");
    expect(await refusalOf(await post(client, {}))).toBe("429 rate_limited");
  });

  test("checks whether the key's request is in progress before the limits", async () => {
    const { server, client, fill } = await start();
    using _ = server;
    await post(client, { url: someUrl });
    const upload = await SlowUpload.begin(server, client, await Bun.file(jfk).bytes(), "a");
    expect(await refusalOf(await post(client, {}, "a"))).toBe("409 idempotency_request_in_progress");
    expect(await refusalOf(await post(client, {}, "b"))).toBe("409 concurrency_limit");
    expect((await upload.finish()).status).toBe(201);
    for (const id of server.idsOf(client.accountId)) server.recordings.fail(id, { reason: "no_speech" });
    server.advance(3_600_000);
    await fill();
  });

  test("checks rate limits before concurrency, and concurrency before the body", async () => {
    const { server, client } = await start();
    using _ = server;
    for (let count = 0; count < 2; count++) await post(client, { url: someUrl });
    expect(await refusalOf(await post(client, {}))).toBe("409 concurrency_limit");
    const [first = ""] = server.idsOf(client.accountId);
    server.recordings.fail(first, { reason: "no_speech" });
    expect(await refusalOf(await post(client, {}))).toBe("422 validation_failed");
    expect((await post(client, { url: someUrl })).status).toBe(201);
    expect(await refusalOf(await post(client, {}))).toBe("429 rate_limited");
    const bare = await client.fetch("/transcriptions", { method: "POST", body: "x" });
    expect(await refusalOf(bare)).toBe("429 rate_limited");
  });

  test("keeps the connection usable after a refusal before the body", async () => {
    const { server, client, fill } = await start();
    using _ = server;
    await fill();
    for (let count = 0; count < 5; count++) {
      expect(await refusalOf(await post(client, { file: Bun.file(jfk) }))).toBe("409 concurrency_limit");
      expect((await client.fetch("/languages")).status).toBe(200);
    }
    expect(server.filesIn("incoming")).toEqual([]);
  });
});

describe.if(ready)("the places of an account", () => {
  test("include an upload in progress, which releases its place when it is refused or lost", async () => {
    using server = new ApiServer({ recordingsPerAccount: 2 });
    const client = server.client("first");
    const file = await Bun.file(jfk).bytes();
    const noRecording = new Uint8Array(file.length);
    const isFull = async () => (await refusalOf(await post(client, {}))) === "409 concurrency_limit";

    const refused = await SlowUpload.begin(server, client, noRecording);
    expect(await isFull()).toBe(false);
    const vanishing = await SlowUpload.begin(server, client, file);
    expect(await isFull()).toBe(true);
    expect(await refusalOf(await refused.finish())).toBe("422 validation_failed");
    expect(await isFull()).toBe(false);
    const taken = await SlowUpload.begin(server, client, file);
    expect(await isFull()).toBe(true);
    await vanishing.vanish();
    while (await isFull()) await Bun.sleep(2);
    expect((await taken.finish()).status).toBe(201);
    expect(await isFull()).toBe(false);
    expect((await post(client, { url: someUrl })).status).toBe(201);
    expect(await isFull()).toBe(true);
    expect(server.filesIn("incoming")).toEqual([]);
    expect(server.filesIn("uploads")).toHaveLength(1);
  });

  test("are not taken by uploads of another account", async () => {
    using server = new ApiServer({ recordingsPerAccount: 1 });
    const upload = await SlowUpload.begin(server, server.client("second"), await Bun.file(jfk).bytes());
    expect((await post(server.client("first"), { url: someUrl })).status).toBe(201);
    expect((await upload.finish()).status).toBe(201);
  });

  test("are not taken by a client that disconnects before its answer, although its upload was complete", async () => {
    using server = new ApiServer();
    const client = server.client("first");
    const file = await Bun.file(jfk).bytes();
    const body = Buffer.concat([Buffer.from(FILE_PART), file, Buffer.from("\r\n--x--\r\n")]);
    const socket = await Bun.connect({ hostname: "127.0.0.1", port: server.port, socket: { data() {} } });
    const bytes = Buffer.concat([Buffer.from(createHead(client.key, body.length, "a")), body]);
    let sent = socket.write(bytes.subarray(0, -50_000));
    while (sent < bytes.length) {
      sent += socket.write(bytes.subarray(sent));
      await Bun.sleep(1);
    }
    socket.terminate();
    const answered = () => server.log.some(({ event, method }) => event === "http.request" && method === "POST");
    while (!answered()) await Bun.sleep(2);
    expect(server.queued).toEqual([]);
    expect([server.filesIn("incoming"), server.filesIn("uploads")]).toEqual([[], []]);
    const again = await post(client, { url: someUrl }, "a");
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, null]);
  });
});
