import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { bodyOf } from "../../harness/client.ts";
import { segmentPageContract } from "../../harness/contract.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { contractFormats, exportExtension, exportMediaTypes, jsonExportSchema } from "../../src/exports/index.ts";
import { ConsoleServer, said } from "../support/console.ts";

const server = new ConsoleServer();
afterAll(() => server[Symbol.dispose]());
const client = server.api.client("first");
const id = server.api.enterProcessing(client.accountId, { sourceName: "weekly meeting" });
server.api.recordings.describe(id, { durationSeconds: 8.5, language: "en" });
server.api.recordings.complete(id, ['Good morning, "everybody".', "שלום Google"].map(said));

const download = (format: string, headers = {}) =>
  client.fetch(`/transcriptions/${id}/export?format=${format}`, { headers });

test.each(contractFormats)(
  "an export as %s has its media type and file name, and 304 for a known ETag",
  async (format) => {
    const answer = await download(format);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(exportMediaTypes[format]);
    expect(answer.headers.get("content-disposition")).toContain(`filename="weekly meeting.${exportExtension(format)}"`);
    expect((await download(format, { "if-none-match": answer.headers.get("etag") ?? "none" })).status).toBe(304);
  },
);

test("an export as JSON has the segments and words of the API", async () => {
  const exported = await bodyOf(await download("json"), 200, jsonExportSchema);
  const page = await bodyOf(await client.fetch(`/transcriptions/${id}/segments?words=true`), 200, segmentPageContract);
  const { data }: { data: unknown } = page;
  expect(data).toEqual(exported.segments);
  expect(exported).toMatchObject({ recording: { id, name: "weekly meeting", duration: 8.5 }, language: "en" });
});

test("the length in an export is that of the API", async () => {
  expect(await (await client.fetch(`/transcriptions/${id}`)).json()).toMatchObject({ duration_seconds: 9 });
  expect(await (await download("txt")).text()).toContain("Length:    00:00:09\n");
  expect(await (await download("lrc")).text()).toContain("[length:00:09]\n");
});

test.skipIf(Bun.which("curl") === null).each([
  ["Müller, Øre & Łódź", (_id: string) => "Muller, Ore & Lodz.txt"],
  ["Mu\u0308ller", () => "Muller.txt"],
  ["日本語", (id: string) => `transcript-${id}.txt`],
])("curl -OJ saves the export of %p under a name that people can read", async (sourceName, name) => {
  const named = server.api.enterProcessing(client.accountId, { sourceName });
  server.api.recordings.complete(named, ["Hello."].map(said));
  using folder = temporaryDirectory();
  const url = `${client.baseUrl}/transcriptions/${named}/export?format=txt`;
  const curl = Bun.spawn(["curl", "-sfOJ", "-H", `Authorization: Bearer ${client.key}`, url], { cwd: folder.path });
  expect(await curl.exited).toBe(0);
  expect(readdirSync(folder.path)).toEqual([name(named)]);
});
