import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../native/build.ts";
import { askPython, installPythonPackages } from "../../scripts/support/python.ts";
import { CommandError } from "../../scripts/support/run-command.ts";
import { cleanText } from "../../src/exports/clean-text.ts";
import {
  exportExtension,
  exportFormats,
  exportMediaTypes,
  jsonExportSchema,
  wordSchema,
} from "../../src/exports/index.ts";
import type { Segment } from "../../src/recordings/index.ts";
import { ConsoleServer, said } from "../console/support.ts";
import { bodyOf } from "../support/client.ts";
import { segmentPageContract } from "../support/contract.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { hostileTexts } from "./transcripts.ts";

setDefaultTimeout(120_000);

const entrySchema = Type.Object({
  start: Type.Union([Type.Integer(), Type.Null()]),
  end: Type.Union([Type.Integer(), Type.Null()]),
  speaker: Type.Union([Type.String(), Type.Null()]),
  text: Type.Union([Type.String(), Type.Null()]),
  words: Type.Optional(Type.Array(wordSchema)),
});
const answerSchema = Type.Record(Type.String(), Type.Array(entrySchema));

const python = Bun.which("python3");
if (python === null) console.warn("SKIPPED: exports read by other programs; missing: python3");
const readers = join(import.meta.dir, "readers");
const packages = python === null ? null : await install();

async function install(): Promise<string | null> {
  try {
    return await installPythonPackages(defaultCacheRoot(), {
      name: "python-docx",
      packages: ["python-docx"],
      constraints: join(readers, "constraints.txt"),
      timeoutMilliseconds: 90_000,
    });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: docx read by python-docx, which cannot be installed: ${error.message}`);
    return null;
  }
}

const server = new ConsoleServer();
afterAll(() => server[Symbol.dispose]());
const client = server.api.client("first");

/** Enters a completed recording. @returns its id */
function enter(segments: readonly Segment[], durationSeconds: number, language = "en"): string {
  const id = server.api.enterProcessing(client.accountId, { sourceName: "weekly meeting" });
  server.api.recordings.describe(id, { durationSeconds, language });
  server.api.recordings.complete(id, segments);
  return id;
}

/** Exports a recording in every format and returns the entries that each reader finds. */
async function readAll(download: (format: string) => Promise<Response>) {
  using directory = temporaryDirectory();
  for (const format of exportFormats) {
    const answer = await download(format);
    expect([format, answer.status]).toEqual([format, 200]);
    await Bun.write(join(directory.path, `export.${format}`), await answer.bytes());
  }
  const question = { directory: directory.path, packages: packages !== null };
  return await askPython(join(readers, "read-exports.py"), packages ?? "", question, answerSchema);
}

/** Returns the segments as the entries of a format, without what the format does not have. */
function entries(segments: readonly Segment[], names: readonly string[], shape: { speaker: boolean; text: boolean }) {
  return segments.map(({ startSeconds, endSeconds, speaker, text }) => ({
    start: Math.round(startSeconds * 1000),
    end: Math.round(endSeconds * 1000),
    speaker: shape.speaker ? (names[speaker] ?? "") : null,
    text: shape.text ? cleanText(text) : null,
  }));
}

const byPlace = (entry: { speaker: string | null; start: number | null }) =>
  `${entry.speaker ?? ""} ${String(entry.start).padStart(12, "0")}`;
const sorted = <T extends Parameters<typeof byPlace>[0]>(found: readonly T[] | undefined) =>
  [...(found ?? [])].sort((a, b) => (byPlace(a) < byPlace(b) ? -1 : 1));
const words = (texts: readonly (string | null)[]) => texts.join(" ").replaceAll("\u2060", "").split(/\s+/);

const segments = [
  'Good morning, "everybody"; here is the plan.',
  "=SUM(A1:A9) is 5 < 7 & 9 > 8.",
  "שלום Google, מה שלומכם היום?",
  "مرحبا بكم في هذا اللقاء",
  "今天天气很好，我们一起去公园散步吧。",
  "Ça va ? 👨‍👩‍👧‍👦 Tschüß — ‘bye’.",
].map((text, index): Segment => ({ ...said(text, index), speaker: index % 3 }));
// The speech of two speakers may overlap, and recordings of earlier versions may have no words.
segments.push({ index: 6, startSeconds: 5.5, endSeconds: 7.25, speaker: 1, text: "An old one.", words: [] });

describe.if(python !== null)("the exports of a server", () => {
  const letters = ["A", "B", "C"];
  const id = enter(segments, 8.5);
  const download = (format: string, headers = {}) =>
    client.fetch(`/transcriptions/${id}/export?format=${format}`, { headers });

  test.each(exportFormats)("as %s have their media type and file name, and 304 for a known ETag", async (format) => {
    const { headers } = await download(format);
    expect(headers.get("content-type")).toBe(exportMediaTypes[format]);
    expect(headers.get("content-disposition")).toContain(`filename="weekly meeting.${exportExtension(format)}"`);
    expect((await download(format, { "if-none-match": headers.get("etag") ?? "none" })).status).toBe(304);
  });

  let answer: ReturnType<typeof readAll> | undefined;
  const read = () => {
    answer ??= readAll(download);
    return answer;
  };

  test("are read by Python with all texts, times and speakers", async () => {
    const found = await read();
    const whole = entries(segments, letters, { speaker: true, text: true });
    expect(found.json?.map(({ words: _words, ...rest }) => rest)).toEqual(whole);
    expect(found.csv).toEqual(whole);
    expect(found.tsv).toEqual(entries(segments, letters, { speaker: false, text: true }));
    expect(found.rttm).toEqual(entries(segments, letters, { speaker: true, text: false }));
    expect(found.lrc).toEqual(whole.map(({ start, text }) => ({ start, end: null, speaker: null, text })));
    expect(sorted(found.eaf)).toEqual(sorted(whole));
    expect(sorted(found.textgrid)).toEqual(sorted(whole));
  });

  test("as JSON have the segments and words of the API", async () => {
    const exported = await bodyOf(await download("json"), 200, jsonExportSchema);
    const page = await bodyOf(
      await client.fetch(`/transcriptions/${id}/segments?words=true`),
      200,
      segmentPageContract,
    );
    const { data }: { data: unknown } = page;
    expect(data).toEqual(exported.segments);
    expect(exported).toMatchObject({ recording: { id, name: "weekly meeting", duration: 8.5 }, language: "en" });
  });

  test.if(packages !== null)("as docx are read by python-docx with all texts", async () => {
    const paragraphs = (await read())["docx with python-docx"] ?? [];
    const texts = paragraphs.filter(({ speaker }) => speaker === "Normal").map(({ text }) => text);
    expect(words(texts)).toEqual(words(segments.map(({ text }) => cleanText(text))));
  });
});

test.if(python !== null)("the console's exports of hostile texts and names are read by Python", async () => {
  const names = ['"; drop', "<A> & 'B'", '<v "x">', "Ann Lee", "Ann Lee", "a\u202eb", "x".repeat(100), "שלום, ]]>"];
  const hostile = Object.values(hostileTexts).map((text, index): Segment => {
    return { ...said(text.toWellFormed(), index), speaker: index % names.length };
  });
  const id = enter(hostile, hostile.length);
  const operator = await server.operator();
  const letters = names.map((_name, speaker) => String.fromCharCode(65 + speaker));
  const body = { names: Object.fromEntries(letters.map((letter, speaker) => [letter, names[speaker]])) };
  expect((await operator.send("PUT", `/recordings/${id}/speakers`, body)).status).toBe(200);
  const found = await readAll((format) => operator.data(`/recordings/${id}/exports/${format}`));

  const visible = hostile.filter(({ text }) => cleanText(text) !== "");
  const shown = names.map(cleanText);
  const distinct = shown.map((name, index) => (shown.indexOf(name) === index ? name : `${name}_2`));
  expect(found.csv).toEqual(entries(visible, shown, { speaker: true, text: true }));
  const onTiers = sorted(entries(visible, distinct, { speaker: true, text: true }));
  expect(sorted(found.eaf)).toEqual(onTiers);
  expect(sorted(found.textgrid)).toEqual(onTiers);
  expect(found.json?.length).toBe(hostile.length);
  expect(new Set(found.rttm?.map(({ speaker }) => speaker)).size).toBe(names.length);
  expect(found.lrc?.length).toBe(visible.length);
});
