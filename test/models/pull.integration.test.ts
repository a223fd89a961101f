import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { LibraryError, type PullOptions, pullModel } from "../../src/models/index.ts";
import { hash, officialEntry, TestLibrary } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(60_000);

const CONTENT = new Uint8Array(300_000).map((_, index) => index * 7);
const entry = officialEntry("whisper-x", CONTENT);

let server: ReturnType<typeof Bun.serve> | undefined;
afterEach(async () => {
  await server?.stop(true);
  server = undefined;
});

type Answer = (request: Request, asked: number) => Response;

/** A server of models; its address and the ranges that it was asked for. */
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

/** Answers as a server that knows of parts. */
const parts: Answer = (request) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0);
  if (from === 0) return new Response(CONTENT);
  if (from >= CONTENT.length) {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${CONTENT.length}` } });
  }
  const headers = { "content-range": `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` };
  return new Response(CONTENT.subarray(from), { status: 206, headers });
};

interface BadLine extends Disposable {
  readonly mirror: string;
  readonly ranges: (string | null)[];
  /** Cuts the line once so much has come. */
  readonly onProgress: PullOptions["onProgress"];
}

/** A server whose line is cut after each 100,000 bytes, so many times; then it is busy, or sends the rest. */
function serveOnBadLine(cuts: number, then: "busy" | "whole"): BadLine {
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
  if (address === null || typeof address === "string") throw new Error("it has no port");
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
  test("is in the library once its published digest was checked, and not fetched again", async () => {
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

  test("is gone on with where the connection broke, again and again", async () => {
    using made = new TestLibrary();
    using line = serveOnBadLine(2, "whole");
    const { model } = await pullModel(entry, options(made, line.mirror, { onProgress: line.onProgress }));
    expect(line.ranges).toEqual([null, "bytes=100000-", "bytes=200000-"]);
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
  });

  test.each<[string, Uint8Array, Answer]>([
    ["the first half", CONTENT.subarray(0, 150_000), parts],
    ["all of it", CONTENT, parts],
    ["more than there is", new Uint8Array(CONTENT.length + 5), parts],
    ["something else", new Uint8Array(150_000), parts],
    ["the first half, from a server that knows no parts", CONTENT.subarray(0, 150_000), () => new Response(CONTENT)],
    [
      "the first half, from a server that sends another part",
      CONTENT.subarray(0, 150_000),
      (request) =>
        request.headers.has("range")
          ? new Response(CONTENT.subarray(7), { status: 206, headers: { "content-range": "bytes 7-299999/300000" } })
          : new Response(CONTENT),
    ],
  ])("is right in the end where an earlier try left %s", async (_, left, answer) => {
    using made = new TestLibrary();
    const { mirror } = serve(answer);
    await made.library.downloads();
    await Bun.write(partOf(made), left);
    const { model } = await pullModel(entry, options(made, mirror));
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
  });

  test("keeps what came before it was given up, so that the next pull goes on from there", async () => {
    using made = new TestLibrary();
    using line = serveOnBadLine(1, "busy");
    const attempt = pullModel(entry, options(made, line.mirror, { onProgress: line.onProgress }));
    await expect(attempt).rejects.toThrow(/127\.0\.0\.1 can't be reached \(it answered 503\)/);
    expect(made.files()).toEqual([expect.stringMatching(/\.part$/)]);
    const again = serve(parts);
    await pullModel(entry, options(made, again.mirror));
    expect(again.ranges).toEqual(["bytes=100000-"]);
  });

  test.each<[string, Answer, RegExp]>([
    ["other bytes", () => new Response(new Uint8Array(CONTENT.length)), /not whisper-x as it was published \(SHA-1/],
    ["a file that is much larger", () => new Response(new Uint8Array(CONTENT.length * 2)), /of another size/],
    ["a page of words", () => new Response("please sign in"), /of another size/],
    ["a refusal", () => new Response("no", { status: 403 }), /answered 403/],
  ])("is refused where the server sends %s, and leaves nothing", async (_, answer, reason) => {
    using made = new TestLibrary();
    const { mirror, ranges } = serve(answer);
    const attempt = pullModel(entry, options(made, mirror));
    await expect(attempt).rejects.toThrow(LibraryError);
    await expect(attempt).rejects.toThrow(reason);
    expect(made.files()).toEqual([]);
    expect(ranges).toHaveLength(1);
  });

  test("is fetched anew where the installed one is damaged, which stays until then", async () => {
    using made = new TestLibrary();
    const { mirror } = serve(parts);
    const { model } = await pullModel(entry, options(made, mirror));
    await Bun.write(model.path, "spoiled");
    await server?.stop(true);
    const refusing = serve(() => new Response("no", { status: 403 }));
    await expect(pullModel(entry, options(made, refusing.mirror))).rejects.toThrow("answered 403");
    expect(await Bun.file(model.path).text()).toBe("spoiled");
    await server?.stop(true);
    await pullModel(entry, options(made, serve(parts).mirror));
    expect(await Bun.file(model.path).bytes()).toEqual(CONTENT);
    expect(made.files()).toEqual(installed);
  });

  test("is pulled by one at a time: another is told so", async () => {
    using made = new TestLibrary();
    const gate = Promise.withResolvers<void>();
    const { mirror } = serve(() => {
      const body = async function* () {
        await gate.promise;
        yield CONTENT;
      };
      return new Response(body(), { headers: { "content-length": String(CONTENT.length) } });
    });
    const first = pullModel(entry, options(made, mirror));
    await Bun.sleep(50);
    await expect(pullModel(entry, options(made, mirror))).rejects.toThrow("another command is at work with whisper-x");
    gate.resolve();
    expect((await first).fetched).toBe(true);
  });

  test("comes by a mirror of http or https alone, whose password is not repeated", async () => {
    using made = new TestLibrary();
    for (const mirror of ["ftp://user:password@example.org", "nonsense", "file:///models"]) {
      await expect(pullModel(entry, options(made, mirror))).rejects.toThrow(
        /^models\.mirror is no http or https address$/,
      );
    }
  });

  test("is written through no link that somebody put in its place", async () => {
    using made = new TestLibrary();
    const victim = made.file("victim", "mine");
    mkdirSync(dirname(partOf(made)), { recursive: true });
    symlinkSync(victim, partOf(made));
    const { mirror } = serve(() => new Response(CONTENT));
    await expect(pullModel(entry, options(made, mirror))).rejects.toThrow("ELOOP");
    expect(await Bun.file(victim).text()).toBe("mine");
  });
});
