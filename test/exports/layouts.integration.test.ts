import { afterAll, expect, test } from "bun:test";
import { errorOf } from "../../harness/client.ts";
import { loadSettings } from "../../src/config/index.ts";
import { toCues } from "../../src/exports/cues.ts";
import { contractFormats, type ExportLayout, exportFormats, exportMediaTypes } from "../../src/exports/index.ts";
import { openApiDocument } from "../../src/http/api/openapi/index.ts";
import { ConsoleServer, said } from "../support/console.ts";
import { exportedBytes, exportedText, hostileTexts, samples, segment, transcript } from "../support/transcripts.ts";

const server = new ConsoleServer();
afterAll(() => server[Symbol.dispose]());
const client = server.api.client("first");
const id = server.api.enterProcessing(client.accountId, { sourceName: "weekly meeting" });
server.api.recordings.describe(id, { durationSeconds: 8.5, language: "en" });
server.api.recordings.complete(id, ["Good morning, everybody.", "Hello there."].map(said));
const download = (rest: string, headers = {}) => client.fetch(`/transcriptions/${id}/exports/${rest}`, { headers });

test.each(exportFormats)("%s is served in its media type with an ETag of its own, and 304 for it", async (format) => {
  const answer = await download(format);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, exportMediaTypes[format]]);
  const extension =
    { textgrid: "TextGrid", whisper: "whisper.json", podcast: "podcast.json" }[String(format)] ?? format;
  expect(answer.headers.get("content-disposition")).toContain(`filename="weekly meeting.${extension}"`);
  expect((await download(format, { "if-none-match": answer.headers.get("etag") ?? "none" })).status).toBe(304);
});

test.each(contractFormats)("%s without options has the bytes that the contract's path sends", async (format) => {
  const plain = await client.fetch(`/transcriptions/${id}/export?format=${format}`);
  expect(await (await download(format)).bytes()).toEqual(await plain.bytes());
});

test("an ETag is valid for one layout alone", async () => {
  const tags = ["srt", "srt?width=32", "srt?width=31", "srt?speakers=letters", "vtt?width=32"].map(async (rest) =>
    (await download(rest)).headers.get("etag"),
  );
  expect(new Set(await Promise.all(tags)).size).toBe(tags.length);
});

const refused: [rest: string, fields: string[]][] = [
  ["mp3", ["format"]],
  ["srt?width=9", ["width"]],
  ["srt?width=few&lines=3&words=0", ["lines", "width", "words"]],
  ["srt?speakers=all", ["speakers"]],
  ["srt?width=32&width=32", ["width"]],
  ["txt?width=32&lines=1", ["lines", "width"]],
  ["srt?media=a.wav", ["media"]],
  ["eaf?media=a%2Fb.wav", ["media"]],
  ["eaf?media=a%00", ["media"]],
  ["lrc?speakers=names", ["speakers"]],
  ["json?speakers=none", ["speakers"]],
];
test.each(refused)("%s is refused under the names of its options: %p", async (rest, fields) => {
  const { errors } = await errorOf(await download(rest), 422);
  expect(Object.keys(errors ?? {}).sort()).toEqual(fields);
});

test("speakers=names shows the stored names, and a new name changes the ETag", async () => {
  const operator = await server.operator();
  const before = await download("srt?speakers=names&width=32");
  expect(await before.text()).toContain("\nA: Good morning, everybody.\n");
  await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: "Anna" } });
  const after = await download("srt?speakers=names&width=32");
  expect(await after.text()).toContain("\nAnna: Good morning, everybody.\n");
  expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
  expect(await (await download("srt?speakers=letters")).text()).toContain("\nA: Good morning, everybody.\n");
  expect(await (await download("txt?speakers=none")).text()).not.toContain("A");
});

/** Bytes of exports without options, which later versions must not change. */
const digests: Readonly<Record<string, string>> = {
  txt: "1e00261cdf76ccca",
  srt: "dd0c7bcf0e238241",
  vtt: "2d53fffceeb8156e",
  json: "55ddcb6be85d0ce3",
  rttm: "441c3b8737e0ef30",
  csv: "696be7416162b869",
  textgrid: "b18363865da806ad",
  eaf: "14a5ea8baf4be1fd",
  tsv: "b122a4c44e028261",
  lrc: "11e21d2629f175a1",
  docx: "20323f47f3021eca",
  pdf: "7335d8d5c1407e33",
};
const everything = transcript([...Object.values(samples).flat(), ...Object.values(hostileTexts)], {
  speakers: ["Anna Müller", "שלום"],
});

test.each(Object.entries(digests))("%s without options has the bytes that it always had", async (format, digest) => {
  const known = contractFormats.find((each) => each === format);
  if (known === undefined) throw new Error(`no format ${format}`);
  expect(sha256(await exportedBytes(known, everything)).slice(0, 16)).toBe(digest);
});

test("the OpenAPI document describes the paths of version 1 as it always did", () => {
  const { limits } = loadSettings({ file: undefined, environment: {}, flags: {} });
  const { paths } = openApiDocument(limits, []);
  const ofRecording = ["/segments", "/export"].map((path) => `/transcriptions/{id}${path}`);
  const contract = ["/transcriptions", "/transcriptions/{id}", ...ofRecording, "/languages"];
  const text = JSON.stringify(contract.map((path) => paths[path]));
  expect(sha256(Buffer.from(text))).toBe("d333648bc0ba03af0f54638e04e50c25aa3d582314009e6fba63a3bbcb03fc37");
});

const names = ["Anna", "x".repeat(100), "Bartholomew Longstocking the Third of Somewhere", "辻さん".repeat(20), "שלום"];
const layouts = [
  { width: 32 },
  { width: 10, lines: 1 },
  { width: 20, lines: 1, words: 2 },
  { words: 1 },
  { width: 200, lines: 2 },
].map((layout) => ({ ...layout, speakers: "names" as const }));
test.each(layouts)("subtitles keep the limits of %p, with every label beside a word", async (layout) => {
  const texts = [...Object.values(samples).flat(), ...Object.values(hostileTexts)];
  const segments = texts.map((text, index) => segment(text, index * 4, index * 4 + 4, index % names.length));
  const { width = 42, lines: maxLines = 2 }: ExportLayout = layout;
  let labels = 0;
  for await (const { lines } of toCues(transcript([], { segments, speakers: names, layout }), true)) {
    expect(lines.length).toBeWithin(1, maxLines + 1);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeWithin(0, width + 1);
    const text = lines.join(" ");
    const label = names.find((name) => text.startsWith(name.slice(0, 2)) && text.includes(":"));
    if (label !== undefined) labels += 1;
    expect(text).not.toMatch(/^[^:]+:$/);
  }
  expect(labels).toBeGreaterThan(10);
});

test("a subtitle has at most as many words as asked for, besides the label", async () => {
  const layout = { words: 2, speakers: "names" } as const;
  const text = await exportedText("srt", transcript(["One two three four five."], { speakers: ["Anna"], layout }));
  const lines = text.split("\n").filter((line) => /^[A-Za-z]/.test(line));
  expect(lines[0]).toStartWith("Anna: One");
  expect(lines.map((line) => line.replace("Anna: ", "").split(" ").length).every((count) => count <= 2)).toBeTrue();
  expect(lines.join(" ")).toBe("Anna: One two three four five.");
});

test("EAF and EXB name their media, also with markup and spaces in the name", async () => {
  const named = transcript(["Hello."], { layout: { media: 'Tom & "Jerry" <1>.wav' } });
  const escaped = "Tom &amp; &quot;Jerry&quot; &lt;1&gt;.wav";
  const descriptor = `MEDIA_URL="./${escaped}" MIME_TYPE="audio/x-wav" RELATIVE_MEDIA_URL="./${escaped}"`;
  expect(await exportedText("eaf", named)).toContain(`<MEDIA_DESCRIPTOR ${descriptor}/>`);
  expect(await exportedText("exb", named)).toContain(`<referenced-file url="${escaped}"/>`);
});

test("a paragraph of TTML in Hebrew has its direction", async () => {
  expect(await exportedText("ttml", transcript(["שלום לכולם."]))).toMatch(/<p [^>]*style="s2" [^>]*>/);
});

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}
