import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, type StatsFs, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { samplePath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";

setDefaultTimeout(60_000);

const megabyte = 1_000_000;
const jfk = samplePath("jfk.mp3");

/** Returns the disk space of the files in a folder. */
const sizeOf = (folder: string) =>
  readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** Returns a form of the given size, which is sent without a Content-Length. */
function chunkedForm(bytes: number): RequestInit {
  async function* body() {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="talk.mp3"\r\n\r\n');
    for (let sent = 0; sent < bytes; sent += 100_000) yield Buffer.alloc(100_000);
    yield Buffer.from("\r\n--b--\r\n");
  }
  return {
    method: "POST",
    headers: { "content-type": 'multipart/form-data; boundary="b"' },
    body: new ReadableStream({
      async start(controller) {
        for await (const piece of body()) controller.enqueue(piece);
        controller.close();
      },
    }),
  };
}

const refusedForRoom = async (response: Response) => {
  const refusal = await errorOf(response, 503);
  expect([refusal.error, response.headers.get("retry-after")]).toEqual(["service_unavailable", "60"]);
  return refusal;
};

describe("a create that exceeds the free disk space", () => {
  let freeBytes = 0;
  let diskBytes = 0;
  let reserveBytes = 0;
  let moreFiles = 1_000_000;
  const real = statfsSync("/");
  const look = (): StatsFs => ({
    ...real,
    bsize: 1,
    blocks: diskBytes,
    bavail: freeBytes - sizeOf(server.dataDirectory.incoming),
    files: 2_000_000,
    ffree: moreFiles,
  });
  const disk = {
    look,
    get reserveBytes() {
      return reserveBytes;
    },
  };
  const server = new ApiServer({ disk });
  const client = server.client("acme");
  afterAll(() => server[Symbol.dispose]());
  beforeEach(() => {
    freeBytes = 1000 * megabyte;
    diskBytes = 2000 * megabyte;
    reserveBytes = 100 * megabyte;
    moreFiles = 1_000_000;
  });

  const nothingIsLeft = () => {
    expect([server.filesIn("incoming"), server.filesIn("uploads"), server.queued]).toEqual([[], [], []]);
    expect(server.recordings.open.countOf(client.accountId)).toBe(0);
  };

  test("is answered 503 by its Content-Length, and passes when there is disk space", async () => {
    freeBytes = 100 * megabyte + 1000;
    const form = { method: "POST", headers: { "idempotency-key": "once" }, body: formOf(jfk) };
    await refusedForRoom(await client.fetch("/transcriptions", form));
    nothingIsLeft();
    freeBytes = 200 * megabyte;
    const again = await client.fetch("/transcriptions", { ...form, body: formOf(jfk) });
    expect(again.status).toBe(201);
    const id = server.queued.splice(0)[0] ?? "";
    server.recordings.fail(id, { reason: "no_speech" });
    await server.dataDirectory.removeFiles(id);
  });

  test("is answered 503 as soon as a body without a Content-Length exceeds it, and nothing is stored", async () => {
    freeBytes = 105 * megabyte;
    await refusedForRoom(await client.fetch("/transcriptions", chunkedForm(9 * megabyte)));
    nothingIsLeft();
  });

  test("is answered 503 if the file fits and its decoded audio does not", async () => {
    // 11 s are 350 kB of PCM. The file has less than a fifth of the free disk space.
    freeBytes = 100 * megabyte + 400_000;
    const { message } = await refusedForRoom(await client.send(jfk));
    expect(message).toContain("no disk space to process this recording");
    nothingIsLeft();
  });

  test("is answered 503 for a link, too", async () => {
    freeBytes = 99 * megabyte;
    const body = new FormData();
    body.set("url", "https://example.org/talk.mp3");
    await refusedForRoom(await client.fetch("/transcriptions", { method: "POST", body }));
    nothingIsLeft();
  });

  test("is answered 503 if the file system has no free inodes", async () => {
    moreFiles = 20;
    await refusedForRoom(await client.send(jfk));
    nothingIsLeft();
  });

  test("is answered 413 if the whole disk could never hold it, with and without a Content-Length, and the next create passes", async () => {
    [diskBytes, freeBytes, reserveBytes] = [8 * megabyte, 8 * megabyte, 200_000];
    const form = new FormData();
    form.set("file", new Blob([Buffer.alloc(9 * megabyte)]), "talk.mp3");
    for (const init of [{ method: "POST", body: form }, chunkedForm(9 * megabyte)]) {
      const response = await client.fetch("/transcriptions", init);
      const { error, message } = await errorOf(response, 413);
      expect([error, response.headers.get("retry-after")]).toEqual(["file_too_large", null]);
      expect(message).not.toContain(String(server.limits.upload_bytes));
      nothingIsLeft();
    }
    const response = await client.send(jfk);
    expect(response.status).toBe(201);
    server.recordings.fail(server.queued.splice(0)[0] ?? "", { reason: "no_speech" });
    const { id } = (await response.json()) as { id: string };
    await server.dataDirectory.removeFiles(id);
  });

  test("is answered 413 if the whole disk could never hold its decoded audio, although the file fits", async () => {
    [diskBytes, freeBytes, reserveBytes] = [400_000, 400_000, 0];
    const response = await client.send(jfk);
    expect([(await errorOf(response, 413)).error, response.headers.get("retry-after")]).toEqual([
      "file_too_large",
      null,
    ]);
    nothingIsLeft();
  });

  test("uses up no quota, and takes no place", async () => {
    const remaining = () =>
      server.usage.creates(client.accountId, { limit: 9, windowMilliseconds: 3_600_000 }, Date.now()).remaining;
    const before = remaining();
    freeBytes = 0;
    for (let count = 0; count < 7; count++) await refusedForRoom(await client.send(jfk));
    expect([before > 0, remaining()]).toEqual([true, before]);
  });
});

function formOf(path: string): FormData {
  const form = new FormData();
  form.set("file", Bun.file(path), "talk.mp3");
  return form;
}

describe.each([
  ["takes no more", false, "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"],
  ["is read-only", true, "PRAGMA query_only = ON", "PRAGMA query_only = OFF"],
])("while the database %s", (_, isReadOnly, breaks, mends) => {
  const server = new ApiServer({ recordingsPerAccount: 1000 });
  const client: KeyClient = server.client("acme");
  const completed = server.enterCompleted(client.accountId, 40);
  const queued = server.enterQueued(client.accountId);
  afterAll(() => server[Symbol.dispose]());

  test("reads succeed, writes are answered 503, and everything works again afterwards", async () => {
    server.store.$client.run(breaks);
    const paths = [
      "/transcriptions",
      `/transcriptions/${completed}`,
      `/transcriptions/${queued}`,
      `/transcriptions/${completed}/segments`,
      `/transcriptions/${completed}/export?format=srt`,
      "/languages",
    ];
    for (const path of paths) expect([path, (await client.fetch(path)).status]).toEqual([path, 200]);
    // Database pages that are partly used accept some more rows.
    let taken = 0;
    while ((await client.send(jfk)).status === 201) taken++;
    for (let count = 0; count < 3; count++) await refusedForRoom(await client.send(jfk));
    expect([server.filesIn("incoming"), server.filesIn("uploads").length, server.queued.length]).toEqual([
      [],
      taken,
      taken,
    ]);
    // The time of a key's last use stays in memory until it can be written.
    const flush = () => server.appOptions.lastUse.flush();
    if (isReadOnly) expect(flush).toThrow();
    server.store.$client.run(mends);
    flush();
    const used = server.store.$client
      .query<{ last_used_at: number | null }, [string]>("SELECT last_used_at FROM api_keys WHERE id = ?")
      .get(client.keyId);
    expect(used?.last_used_at).toBeGreaterThan(0);
    expect((await client.send(jfk)).status).toBe(201);
    expect(server.log.filter(({ event }) => event === "http.unexpected_error")).toEqual([]);
    expect(server.store.$client.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  });
});

test.skipIf(!canMount)("an export that needs space on a full disk is answered 503, and others succeed", async () => {
  using server = new ApiServer();
  const client = server.client("acme");
  const id = server.enterCompleted(client.accountId, 2000);
  for (const leave of [0, 4096, 150_000]) {
    using disk = new SmallDisk(server.dataDirectory.incoming, "size=200k");
    disk.fill(leave);
    for (const format of ["pdf", "docx"]) {
      await refusedForRoom(await client.fetch(`/transcriptions/${id}/export?format=${format}`));
    }
    expect((await client.fetch(`/transcriptions/${id}/export?format=txt`)).status).toBe(200);
    disk.empty();
    expect(server.filesIn("incoming")).toEqual([]);
  }
});
