import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { ModelError, type PullOptions, pullModel } from "../../src/models/index.ts";
import { hash, officialEntry, TestLibrary } from "../support/models.ts";

// It takes seconds on an idle machine, more on a busy one.
setDefaultTimeout(60_000);

const CONTENT = new Uint8Array(300_000).map((_, index) => index * 7);
const entry = officialEntry("whisper-x", CONTENT);

let server: ReturnType<typeof Bun.serve> | undefined;
afterEach(async () => {
  await server?.stop(true);
  server = undefined;
});

type Answer = (request: Request, asked: number) => Response;

/** Starts a server of models. @returns its address and the requested ranges */
function serve(answer: Answer): { mirror: string; ranges: (string | null)[] } {
  const ranges: (string | null)[] = [];
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      expect(new URL(request.url).pathname).toBe("/whisper/m.bin");
      ranges.push(request.headers.get("range"));
      return answer(request, ranges.length);
    },
  });
  return { mirror: `${server.url}whisper`, ranges };
}

/** Answers like a server that supports range requests. */
const parts: Answer = (request) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0);
  if (from === 0) return new Response(CONTENT);
  if (from >= CONTENT.length) {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${CONTENT.length}` } });
  }
  const headers = { "content-range": `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` };
  return new Response(CONTENT.subarray(from), { status: 206, headers });
};

interface BrokenConnection extends Disposable {
  readonly mirror: string;
  readonly ranges: (string | null)[];
  /** Closes the connection after each 100,000 received bytes. */
  readonly onProgress: PullOptions["onProgress"];
}

/** Starts a server that closes the connection `cuts` times after 100,000 bytes, and then is busy or sends the rest. */
function serveWithBreaks(cuts: number, then: "busy" | "whole"): BrokenConnection {
  const ranges: (string | null)[] = [];
  let cut = () => {};
  const sockets = createServer((socket) => {
    socket.once("data", (request) => {
      const range = /^range: (.*)\r$/im.exec(request.toString())?.[1] ?? null;
      ranges.push(range);
      const from = Number(range?.match(/\d+/)?.[0] ?? 0);
      const isCut = ranges.length <= cuts;
      if (!isCut && then === "busy") {
        socket.end("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
      }
      const status = range === null ? "200 OK" : `206 Part\r\nContent-Range: bytes ${from}-299999/300000`;
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${CONTENT.length - from}\r\nConnection: close\r\n\r\n`);
      if (isCut) {
        cut = () => socket.destroy();
        socket.write(CONTENT.subarray(from, from + 100_000));
      } else socket.end(CONTENT.subarray(from));
    });
  }).listen(0, "127.0.0.1");
  const address = sockets.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    ...{ mirror: `http://127.0.0.1:${address.port}/whisper`, ranges },
    onProgress: (doing, done) => {
      if (doing === "download" && done === 100_000 * ranges.length) cut();
    },
    [Symbol.dispose]: () => void sockets.close(),
  };
}

function options(made: TestLibrary, mirror: string, more: Partial<PullOptions> = {}): PullOptions {
  const pause = async () => {};
  return { library: made.library, catalogue: [entry], inspect: () => {}, mirror, onProgress: () => {}, pause, ...more };
}

const partOf = (made: TestLibrary) =>
  join(made.dataDirectory, "models/downloads", `whisper-x-${hash("sha1", CONTENT).slice(0, 12)}.part`);
const installed = ["models/installed/whisper-x/model.bin", "models/installed/whisper-x/model.json"];

describe("a model that is pulled", () => {
  test("is installed after its published digest was checked, and not downloaded again", async () => {
    using made = new TestLibrary();
    const { mirror, ranges } = serve(parts);
    const progress: [string, number, number | null][] = [];
    const onProgress: PullOptions["onProgress"] = (...at) => void progress.push(at);
    const { model, fetched } = await pullModel(entry, options(made, mirror, { onProgress }));
    expect({ ...model, fetched }).toMatchObject({
      ...{ id: "whisper-x", inCatalogue: true, sizeBytes: CONTENT.length, fetched: true },
      ...{ sha1: hash("sha1", CONTENT), sha256: hash("sha256", CONTENT), from: "127.0.0.1" },
    });
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
    expect(progress.at(-1)).toEqual(["check", CONTENT.length, CONTENT.length]);
    expect((await pullModel(entry, options(made, mirror))).fetched).toBe(false);
    expect(ranges).toHaveLength(1);
  });

  test("is resumed after every connection failure", async () => {
    using made = new TestLibrary();
    using connection = serveWithBreaks(2, "whole");
    const { model } = await pullModel(entry, options(made, connection.mirror, { onProgress: connection.onProgress }));
    expect(connection.ranges).toEqual([null, "bytes=100000-", "bytes=200000-"]);
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
  });

  test.each<[string, Uint8Array, Answer]>([
    ["the first half", CONTENT.subarray(0, 150_000), parts],
    ["the complete file", CONTENT, parts],
    ["more bytes than the file has", new Uint8Array(CONTENT.length + 5), parts],
    ["other bytes", new Uint8Array(150_000), parts],
    ["the first half, from a server without range requests", CONTENT.subarray(0, 150_000), () => new Response(CONTENT)],
    [
      "the first half, from a server that sends another range",
      CONTENT.subarray(0, 150_000),
      (request) =>
        request.headers.has("range")
          ? new Response(CONTENT.subarray(7), { status: 206, headers: { "content-range": "bytes 7-299999/300000" } })
          : new Response(CONTENT),
    ],
  ])("is installed correctly when an earlier attempt left %s", async (_, left, answer) => {
    using made = new TestLibrary();
    const { mirror } = serve(answer);
    await made.library.downloads();
    await Bun.write(partOf(made), left);
    const { model } = await pullModel(entry, options(made, mirror));
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
  });

  test("keeps the partial download of a failed attempt, which the next pull resumes", async () => {
    using made = new TestLibrary();
    using connection = serveWithBreaks(1, "busy");
    const attempt = pullModel(entry, options(made, connection.mirror, { onProgress: connection.onProgress }));
    await expect(attempt).rejects.toThrow(/127\.0\.0\.1 can't be reached \(it answered 503\)/);
    expect(made.files()).toEqual([expect.stringMatching(/\.part$/)]);
    const again = serve(parts);
    await pullModel(entry, options(made, again.mirror));
    expect(again.ranges).toEqual(["bytes=100000-"]);
  });

  test.each<[string, Answer, RegExp]>([
    ["other bytes", () => new Response(new Uint8Array(CONTENT.length)), /not whisper-x as it was published \(SHA-1/],
    ["a much larger file", () => new Response(new Uint8Array(CONTENT.length * 2)), /of another size/],
    ["a web page", () => new Response("please sign in"), /of another size/],
    ["a refusal", () => new Response("no", { status: 403 }), /answered 403/],
  ])("is refused when the server sends %s, and leaves nothing", async (_, answer, reason) => {
    using made = new TestLibrary();
    const { mirror, ranges } = serve(answer);
    const attempt = pullModel(entry, options(made, mirror));
    await expect(attempt).rejects.toThrow(ModelError);
    await expect(attempt).rejects.toThrow(reason);
    expect(made.files()).toEqual([]);
    expect(ranges).toHaveLength(1);
  });

  test("replaces a damaged copy only with a valid download that native code can load", async () => {
    using made = new TestLibrary();
    const { mirror } = serve(parts);
    const { model } = await pullModel(entry, options(made, mirror));
    await Bun.write(model.path, "spoiled");
    const inspect = () => {
      throw new Error("it has no tensors");
    };
    await expect(pullModel(entry, options(made, mirror, { inspect }))).rejects.toThrow("it has no tensors");
    expect(await Bun.file(model.path).text()).toBe("spoiled");
    expect(made.files()).toEqual(installed);
    await server?.stop(true);
    const refusing = serve(() => new Response("no", { status: 403 }));
    await expect(pullModel(entry, options(made, refusing.mirror))).rejects.toThrow("answered 403");
    expect(await Bun.file(model.path).text()).toBe("spoiled");
    await server?.stop(true);
    await pullModel(entry, options(made, serve(parts).mirror));
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
  });

  test("is pulled by one command at a time, and a second command is refused", async () => {
    using made = new TestLibrary();
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { mirror } = serve(() => {
      asked.resolve();
      const body = async function* () {
        await gate.promise;
        yield CONTENT;
      };
      return new Response(body(), { headers: { "content-length": String(CONTENT.length) } });
    });
    const first = pullModel(entry, options(made, mirror));
    await asked.promise;
    await expect(pullModel(entry, options(made, mirror))).rejects.toThrow("another command is processing whisper-x");
    gate.resolve();
    expect((await first).fetched).toBe(true);
  });

  test("is pulled only from an http or https mirror, whose password appears in no error", async () => {
    using made = new TestLibrary();
    for (const mirror of ["ftp://user:password@example.org", "nonsense", "file:///models"]) {
      await expect(pullModel(entry, options(made, mirror))).rejects.toThrow(
        /^models\.mirror is not an http or https address$/,
      );
    }
  });

  test("is never written through a symbolic link", async () => {
    using made = new TestLibrary();
    const victim = made.file("victim", "mine");
    mkdirSync(dirname(partOf(made)), { recursive: true });
    symlinkSync(victim, partOf(made));
    const { mirror } = serve(() => new Response(CONTENT));
    await expect(pullModel(entry, options(made, mirror))).rejects.toThrow("ELOOP");
    expect(await Bun.file(victim).text()).toBe("mine");
  });
});
