import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath } from "../../../harness/checkout.ts";
import { revokeKey } from "../../../src/keys/index.ts";
import { probeRecording } from "../../../src/media/index.ts";
import { ApiServer, type ApiServerOptions } from "../../support/http.ts";
import {
  bodyOf,
  conversation,
  DISCONNECT_MILLISECONDS,
  end,
  jfk,
  leftovers,
  nextQueued,
  type Part,
  post,
  untilNothingIsLeft,
  usualParts,
} from "./support.ts";

const ready = available("tests of waiting requests to OpenAI's audio API", ffmpegPath, jfk);

/** A server, and a client whose request waits for its transcript. */
async function waiting(
  options: { compat?: Partial<ApiServer["compat"]>; parts?: Part[]; server?: ApiServerOptions } = {},
) {
  const server = new ApiServer(options.server);
  server.compat = { ...server.compat, ...options.compat };
  const client = server.client("first");
  const stop = new AbortController();
  const answer = post(server, client, [...usualParts(), ...(options.parts ?? [])], { signal: stop.signal });
  answer.catch(() => {});
  const id = await nextQueued(server, 0);
  return { server, client, stop, answer, id, [Symbol.dispose]: () => server[Symbol.dispose]() };
}

/** Begins to process a recording, and charges its account. */
function charge({ recordings, usage }: ApiServer, id: string): void {
  const accountId = recordings.get(id)?.accountId ?? "";
  recordings.claim(id);
  usage.admit(accountId, id, 1e6, Date.now());
  usage.chargeAudio(id, 60, 1e6);
}

const charged = ({ usage }: ApiServer, accountId: string) => usage.audioSeconds(accountId, Date.now());

function residentAfterCollection(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}

describe.if(ready)("a request that waits for its transcript", () => {
  test("cancels its recording when its client disconnects: refunded, with nothing left", async () => {
    for (const parts of [[], [["stream", "true"]]] as Part[][]) {
      using wait = await waiting({ parts });
      const { server, client, stop, id } = wait;
      let follows = 0;
      server.onFollow = () => void follows++;
      charge(server, id);
      expect(charged(server, client.accountId)).toBe(60);
      if (parts.length > 0) await wait.answer;
      const since = performance.now();
      stop.abort();
      await untilNothingIsLeft(server);
      expect(performance.now() - since).toBeLessThan(DISCONNECT_MILLISECONDS);
      expect(charged(server, client.accountId)).toBe(0);
      expect(follows).toBe(1);
      expect(server.recordings.open.countOf(client.accountId)).toBe(0);
    }
  });

  test("leaves its recording to be completed and kept when abandoned recordings are kept", async () => {
    using wait = await waiting({ compat: { keep_abandoned: true } });
    const { server, client, stop, id } = wait;
    stop.abort();
    while (server.recordings.get(id)?.isTransient !== false) await Bun.sleep(2);
    end(server, id);
    expect((await client.get(id)).status).toBe("completed");
    expect((await bodyOf(await client.fetch("/transcriptions"))).data).toHaveLength(1);
  });

  test("cancels even a recording that is to be kept when its client disconnects", async () => {
    using wait = await waiting({ compat: { keep: true } });
    const { server, client, stop, id } = wait;
    charge(server, id);
    stop.abort();
    while (server.recordings.get(id)?.status !== "failed") await Bun.sleep(2);
    expect(charged(server, client.accountId)).toBe(0);
    expect((await client.get(id)).failure_reason).toBe("internal");
  });

  test("shows its recording in lists from the start, and keeps it, with keep", async () => {
    using wait = await waiting({ compat: { keep: true } });
    const { server, client, answer, id } = wait;
    expect((await bodyOf(await client.fetch("/transcriptions"))).data).toMatchObject([{ id, status: "queued" }]);
    end(server, id);
    expect((await answer).status).toBe(200);
    expect((await client.get(id)).status).toBe("completed");
    expect(server.filesIn("uploads")).toEqual([id]);
  });

  test("keeps a recording that the operator protects from deletion", async () => {
    using wait = await waiting();
    const { server, client, answer, id } = wait;
    server.recordings.setHold(id, true);
    end(server, id);
    expect((await answer).status).toBe(200);
    expect((await bodyOf(await client.fetch("/transcriptions"))).data).toHaveLength(1);
  });

  test("is answered with a retryable 503 when the server stops, and nothing is left", async () => {
    using wait = await waiting();
    const { server, answer } = wait;
    server.stopping.abort();
    const response = await answer;
    expect([response.status, (await bodyOf(response)).error.type]).toEqual([503, "server_error"]);
    expect(response.headers.get("retry-after")).toBe("10");
    expect(response.headers.get("x-should-retry")).toBeNull();
    expect(leftovers(server)).toEqual([]);
  });

  test("is answered with 503 when the server stops, and a kept recording stays queued", async () => {
    using wait = await waiting({ compat: { keep: true } });
    const { server, answer, id } = wait;
    server.stopping.abort();
    expect((await answer).status).toBe(503);
    expect(server.recordings.get(id)).toMatchObject({ status: "queued", isTransient: false });
  });

  test("is answered with 503 after the maximum time, and asks not to be sent again", async () => {
    using server = new ApiServer();
    server.compat = { ...server.compat, max_wait_seconds: 1 };
    // On a slow machine, the time may be over before the recording is queued.
    const response = await post(server, server.client("first"), usualParts());
    expect(response.status).toBe(503);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(leftovers(server)).toEqual([]);
  });

  test("is answered with 500 when its recording is cancelled and deleted by the operator", async () => {
    using wait = await waiting();
    const { server, answer, id } = wait;
    server.recordings.fail(id, { reason: "internal", cause: "cancelled" });
    server.recordings.delete(id);
    server.events.deliver();
    const response = await answer;
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([500, "false"]);
  });

  test("waits for a place of its account, in the order of arrival, and never gets 409", async () => {
    using wait = await waiting({ server: { recordingsPerAccount: 1 } });
    const { server, client, answer, id } = wait;
    /** Waits until as many uploads wait for a place. */
    const untilWaiting = async (count: number) => {
      while (server.filesIn("incoming").length !== count) await Bun.sleep(2);
    };
    const second = post(server, client, usualParts());
    await untilWaiting(1);
    const gone = new AbortController();
    const third = post(server, client, usualParts(), { signal: gone.signal }).catch(() => null);
    await untilWaiting(2);
    // The own API refuses what OpenAI's API lets wait.
    const body = new FormData();
    body.append("url", "https://media.example.org/talk.mp3");
    expect((await client.fetch("/transcriptions", { method: "POST", body })).status).toBe(409);
    gone.abort();
    await third;
    await untilWaiting(1);
    expect(server.queued).toEqual([id]);
    end(server, id);
    expect((await answer).status).toBe(200);
    end(server, await nextQueued(server, 1));
    expect((await second).status).toBe(200);
    expect(server.queued).toHaveLength(2);
    expect(leftovers(server)).toEqual([]);
  });

  test("gets 429 with Retry-After when its account may have no recording at all", async () => {
    using server = new ApiServer({ recordingsPerAccount: 0 });
    const response = await post(server, server.client("first"), usualParts());
    expect([response.status, (await bodyOf(response)).error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(response.headers.get("retry-after")).toBe("10");
  });

  test("costs little memory: 200 requests whose account has no place take less than 64 MiB, and end when the server stops", async () => {
    const probed = await probeRecording(ffmpegPath, jfk);
    using wait = await waiting({ server: { recordingsPerAccount: 1, probe: async () => probed } });
    const { server, client, answer } = wait;
    const begin =
      '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
    const body = Buffer.concat([Buffer.from(begin), Buffer.alloc(1024 ** 2), Buffer.from("\r\n--b--\r\n")]);
    const head = Buffer.from(
      `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${client.key}\r\n` +
        `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const message = Buffer.concat([head, body]);
    const before = residentAfterCollection();
    const answers = Array.from({ length: 200 }, () => server.raw(message));
    const received = () =>
      server
        .filesIn("incoming")
        .reduce((sum, name) => sum + statSync(join(server.dataDirectory.incoming, name)).size, 0);
    while (received() < 200 * 1024 ** 2) await Bun.sleep(5);
    const grown = residentAfterCollection() - before;
    console.log(`200 waiting requests: ${(grown / 1024 ** 2).toFixed(1)} MiB`);
    expect(grown).toBeLessThan(64 * 1024 ** 2);
    server.stopping.abort();
    expect((await answer).status).toBe(503);
    for (const each of answers) expect(await each).toStartWith("HTTP/1.1 503 ");
    expect(server.queued).toHaveLength(1);
    expect(leftovers(server)).toEqual([]);
  });
});

describe.if(ready)("a stream of a transcript", () => {
  const events = (text: string) =>
    text
      .split("\n\n")
      .filter((event) => event.startsWith("data: "))
      .map((event) => JSON.parse(event.slice(6)));

  const words = (text: string) => [{ text, probability: 0.5 }];

  test("has the text of each chunk in the order of time, then the whole text", async () => {
    using wait = await waiting({ parts: [["stream", "true"]] });
    const { server, answer, id } = wait;
    const response = await answer;
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const chunk = { id, tracks: 1 };
    server.events.transcribed({ ...chunk, part: 1, words: words(" Hello!") });
    server.events.transcribed({ ...chunk, part: 0, words: words(" Good day.") });
    server.events.transcribed({ ...chunk, part: 0, words: words(" Good day.") });
    server.events.transcribed({ ...chunk, part: 2, words: words(" Bye.") });
    end(server, id);
    expect(events(await response.text())).toEqual([
      { type: "transcript.text.delta", delta: "Good day." },
      { type: "transcript.text.delta", delta: " Hello!" },
      { type: "transcript.text.delta", delta: " Bye." },
      { type: "transcript.text.done", text: "Good day. Hello! Bye." },
    ]);
    expect(leftovers(server)).toEqual([]);
  });

  test("of several tracks has the text at the end, one delta for each segment", async () => {
    using wait = await waiting({ parts: [["stream", "true"]] });
    const { server, answer, id } = wait;
    server.events.transcribed({ id, tracks: 2, part: 0, words: words(" Good day.") });
    end(server, id);
    const deltas = events(await (await answer).text()).filter(({ type }) => type === "transcript.text.delta");
    expect(deltas.map(({ delta }) => delta)).toEqual(["Good day.", " Hello!", " Bye."]);
  });

  test("with diarized_json has one event for each segment before the end", async () => {
    const parts: Part[] = [
      ["stream", "true"],
      ["response_format", "diarized_json"],
    ];
    using wait = await waiting({ parts });
    end(wait.server, wait.id);
    const sent = events(await (await wait.answer).text());
    expect(sent.filter(({ type }) => type === "transcript.text.segment")).toHaveLength(conversation.length);
    expect(sent.at(-1)).toMatchObject({ type: "transcript.text.done" });
  });

  test("has log probabilities at its end when include asks for them", async () => {
    const parts: Part[] = [
      ["stream", "true"],
      ["include[]", "logprobs"],
    ];
    using wait = await waiting({ parts });
    end(wait.server, wait.id);
    const { logprobs } = events(await (await wait.answer).text()).at(-1);
    const tokens = logprobs.map(({ token }: { token: string }) => token);
    expect(tokens).toEqual([" Good", " day.", " Hello!", " Bye."]);
    expect(logprobs[0]).toEqual({ token: " Good", logprob: expect.any(Number), bytes: [32, 71, 111, 111, 100] });
  });

  test("ends with an error event when the recording fails, and when the server stops", async () => {
    for (const fails of [true, false]) {
      using wait = await waiting({ parts: [["stream", "true"]] });
      const { server, answer, id } = wait;
      const response = await answer;
      if (fails) end(server, id, { failure: { reason: "internal", cause: "engine_crashed" } });
      else server.stopping.abort();
      const [, error = ""] = (await response.text()).split("event: error\ndata: ");
      expect(JSON.parse(error)).toMatchObject({
        type: "error",
        error: { type: "server_error", message: expect.any(String) },
      });
      expect(leftovers(server)).toEqual([]);
    }
  });

  test("begins before its account has a place, so that the connection stays alive", async () => {
    using wait = await waiting({ server: { recordingsPerAccount: 1 } });
    const { server, client, answer, id } = wait;
    const response = await post(server, client, [...usualParts(), ["stream", "true"]]);
    expect(response.status).toBe(200);
    expect(server.queued).toEqual([id]);
    end(server, id);
    expect((await answer).status).toBe(200);
    end(server, await nextQueued(server, 1));
    const text = await response.text();
    expect(text).toStartWith(": keep-alive\n\n");
    expect(events(text).at(-1)).toEqual({ type: "transcript.text.done", text: "Good day. Hello! Bye." });
    expect(leftovers(server)).toEqual([]);
  });

  test("gives up its turn for a place when its client disconnects", async () => {
    using wait = await waiting({ server: { recordingsPerAccount: 1 } });
    const { server, client, id } = wait;
    const stop = new AbortController();
    await post(server, client, [...usualParts(), ["stream", "true"]], { signal: stop.signal });
    stop.abort();
    while (server.filesIn("incoming").length > 0) await Bun.sleep(2);
    const next = post(server, client, usualParts());
    end(server, id);
    end(server, await nextQueued(server, 1));
    expect((await next).status).toBe(200);
    expect(server.queued).toHaveLength(2);
  });

  test("ends with an error event when it gets no place: the server stops, or the key is revoked", async () => {
    const ends: [type: string, end: (wait: Awaited<ReturnType<typeof waiting>>) => void][] = [
      ["server_error", ({ server }) => server.stopping.abort()],
      [
        "invalid_request_error",
        ({ server, client, id }) => {
          revokeKey(server.store, client.keyId, server.operator());
          end(server, id);
        },
      ],
    ];
    for (const [type, endIt] of ends) {
      using wait = await waiting({ server: { recordingsPerAccount: 1 } });
      const { server, client } = wait;
      const response = await post(server, client, [...usualParts(), ["stream", "true"]]);
      endIt(wait);
      const [, error = ""] = (await response.text()).split("event: error\ndata: ");
      expect(JSON.parse(error)).toMatchObject({ type: "error", error: { type, message: expect.any(String) } });
      expect(server.filesIn("incoming")).toEqual([]);
    }
  });

  test("is refused with a status of its own for a file that is no recording, even without a place", async () => {
    using wait = await waiting({ server: { recordingsPerAccount: 1 } });
    const parts: Part[] = [
      ["file", new Blob(["hello"]), "talk.mp3"],
      ["model", "whisper-1"],
      ["stream", "true"],
    ];
    expect((await post(wait.server, wait.client, parts)).status).toBe(400);
  });

  test("of silence has an empty text", async () => {
    using wait = await waiting({ parts: [["stream", "true"]] });
    end(wait.server, wait.id, { failure: { reason: "no_speech" } });
    expect(events(await (await wait.answer).text())).toEqual([{ type: "transcript.text.done", text: "" }]);
  });
});
