import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readlinkSync, statfsSync } from "node:fs";
import { errorOf } from "../../harness/client.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { longSegments } from "../support/long-segments.ts";
import { UnreadResponse } from "../support/unread-response.ts";

setDefaultTimeout(60_000);

const mostOpen = 16;

/** Enters a recording with a text of the given megabytes. @returns its id */
function enterLong(server: ApiServer, accountId: string, megabytes: number): string {
  const id = server.enterProcessing(accountId);
  server.recordings.complete(id, longSegments(megabytes * 1000));
  return id;
}

const exportPath = (id: string, format: string) => `/transcriptions/${id}/export?format=${format}`;
const filesOf = (server: ApiServer) => server.filesIn("incoming").filter((name) => name.startsWith("export-"));
/** Paths of the files that this process has open. */
const openFiles = () =>
  readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
const untilNoFiles = async (server: ApiServer) => {
  while (server.filesIn("incoming").length > 0) await Bun.sleep(5);
};

describe("an export that is not read", () => {
  const server = new ApiServer();
  const client = server.client("acme");
  const id = enterLong(server, client.accountId, 8);
  const unread = (path = exportPath(id, "txt")) => UnreadResponse.of(client.baseUrl + path, client.key);
  afterAll(() => server[Symbol.dispose]());

  test("is sent from a file, which is removed when its client has read it or has disconnected", async () => {
    using read = await unread();
    using left = await unread();
    expect([read.status, left.status, filesOf(server).length]).toEqual([200, 200, 2]);
    const length = Number(read.header("content-length")) + read.head.length + 4;
    expect(length).toBeGreaterThan(8_000_000);
    expect(await read.continueReading(length)).toBe(length);
    while (filesOf(server).length > 1) await Bun.sleep(5);
    left[Symbol.dispose]();
    await untilNoFiles(server);
  });

  test.each(["bytes=0-9", "bytes=99999999-"])("is sent whole, whatever Range asks for: %s", async (range) => {
    const answer = await client.fetch(exportPath(id, "txt"), { headers: { range } });
    const length = Number(answer.headers.get("content-length"));
    expect([answer.status, (await answer.bytes()).length]).toEqual([200, length]);
    expect(length).toBeGreaterThan(8_000_000);
    await untilNoFiles(server);
  });

  test("is ended at its deadline, and its file is removed", async () => {
    using answer = await unread();
    const length = Number(answer.header("content-length"));
    server.advance(60_000 + Math.ceil((length / 16 / 1024) * 1000));
    await untilNoFiles(server);
    // A client that goes on reading gets what was on its way, and the file's bytes are free.
    expect(await answer.continueReading()).toBeLessThan(length);
    while (openFiles().some((path) => path.includes("export-"))) await Bun.sleep(20);
    server.now = Date.now;
  }, 60_000);

  test("loses its file when its recording is deleted", async () => {
    const deleted = enterLong(server, client.accountId, 8);
    using answer = await unread(exportPath(deleted, "txt"));
    expect([answer.status, filesOf(server).length]).toEqual([200, 1]);
    expect((await client.fetch(`/transcriptions/${deleted}`, { method: "DELETE" })).status).toBe(204);
    expect(filesOf(server)).toEqual([]);
  });

  test("takes one of 16 places of its account, and none of another account's", async () => {
    const other = server.client("other");
    const othersId = server.enterCompleted(other.accountId, 3);
    const answers = await Promise.all(Array.from({ length: mostOpen }, () => unread()));
    for (const format of ["txt", "pdf"]) {
      const refused = await client.fetch(exportPath(id, format));
      expect((await errorOf(refused, 429)).error).toBe("rate_limited");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60);
    }
    for (const format of ["txt", "pdf"]) expect((await other.fetch(exportPath(othersId, format))).status).toBe(200);
    for (const answer of answers.splice(0, 1)) answer[Symbol.dispose]();
    while (filesOf(server).length >= mostOpen) await Bun.sleep(5);
    expect((await client.fetch(exportPath(id, "txt"), { method: "HEAD" })).status).toBe(200);
    for (const answer of answers) answer[Symbol.dispose]();
    await untilNoFiles(server);
  }, 120_000);
});

describe("exports of one account", () => {
  const server = new ApiServer();
  const [first, second] = [server.client("first"), server.client("second")];
  const ids = [first, second].map(({ accountId }) => enterLong(server, accountId, 0.005));
  const long = enterLong(server, first.accountId, 0.1);
  afterAll(() => server[Symbol.dispose]());

  test("do not delay another account's: its DOCX is generated before the last of six queued PDFs", async () => {
    const made: string[] = [];
    const download = async (client: KeyClient, name: string, id: string | undefined) => {
      const answer = await client.fetch(exportPath(id ?? "", name.split(" ")[0] ?? ""));
      made.push(name);
      expect([answer.status, (await answer.bytes()).length > 1000]).toEqual([200, true]);
    };
    const all = Array.from({ length: 6 }, (_, index) => download(first, `pdf ${index}`, ids[0]));
    while (server.filesIn("incoming").length === 0) await Bun.sleep(1);
    await Promise.all([...all, download(second, "docx", ids[1])]);
    expect(made.length).toBe(7);
    // Behind the other account's PDFs it would be one of the last two.
    expect(made.indexOf("docx")).toBeLessThan(5);
    await untilNoFiles(server);
  }, 120_000);

  test("are dropped from the queue as soon as their clients have disconnected", async () => {
    const controller = new AbortController();
    const path = exportPath(long, "pdf");
    const some = Array.from({ length: mostOpen }, () => first.fetch(path, { signal: controller.signal }));
    while (server.filesIn("incoming").length === 0) await Bun.sleep(1);
    controller.abort();
    expect((await Promise.allSettled(some)).map(({ status }) => status)).toEqual(some.map(() => "rejected"));
    await untilNoFiles(server);
    expect((await first.fetch(exportPath(long, "docx"), { method: "HEAD" })).status).toBe(200);
    expect(server.log.filter(({ event }) => event === "http.unexpected_error")).toEqual([]);
  }, 60_000);
});

describe("an export", () => {
  let freeBytes = 1e12;
  const disk = { look: () => ({ ...statfsSync("/"), bsize: 1, bavail: freeBytes }), reserveBytes: 1e9 };
  const server = new ApiServer({ disk });
  const client = server.client("acme");
  const id = enterLong(server, client.accountId, 0.3);
  const pages = enterLong(server, client.accountId, 0.05);
  const short = server.enterCompleted(client.accountId, 3);
  afterAll(() => server[Symbol.dispose]());

  test.each([
    ["txt", id],
    ["pdf", pages],
  ])(
    "as %s reports its length to HEAD, and leaves no file",
    async (format, of) => {
      const head = await client.fetch(exportPath(of, format), { method: "HEAD" });
      const get = await client.fetch(exportPath(of, format));
      const bytes = await get.bytes();
      for (const name of ["content-length", "content-type", "content-disposition", "etag", "cache-control"]) {
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      }
      expect(get.headers.get("content-length")).toBe(String(bytes.length));
      await untilNoFiles(server);
    },
    60_000,
  );

  test("that the client already has is not generated again", async () => {
    const { headers } = await client.fetch(exportPath(short, "pdf"), { method: "HEAD" });
    const unchanged = { "if-none-match": headers.get("etag") ?? "none" };
    freeBytes = 0;
    expect((await client.fetch(exportPath(short, "pdf"), { headers: unchanged })).status).toBe(304);
    freeBytes = 1e12;
    await untilNoFiles(server);
  });

  test("that needs a file is refused with 503 when there is no disk space for it; a short text needs none", async () => {
    // The existing files leave a sixteenth of the reserve.
    freeBytes = 1e9 / 16 + 1e6;
    for (const [of, format] of [
      [id, "txt"],
      [id, "pdf"],
      [short, "docx"],
    ] as const) {
      const refused = await client.fetch(exportPath(of, format));
      expect((await errorOf(refused, 503)).error).toBe("service_unavailable");
      expect(refused.headers.get("retry-after")).toBe("60");
    }
    expect((await client.fetch(exportPath(short, "srt"))).status).toBe(200);
    expect(server.filesIn("incoming")).toEqual([]);
    freeBytes = 1e9 / 16 + 1e8;
    expect((await client.fetch(exportPath(short, "docx"))).status).toBe(200);
  });
});
