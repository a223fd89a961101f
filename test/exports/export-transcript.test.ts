import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import {
  ExportError,
  type ExportFormat,
  type ExportSegment,
  ExportTooLargeError,
  exportFormats,
  exportTranscript,
} from "../../src/exports/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { samples, segment, transcript } from "./transcripts.ts";

const formats = Object.keys(exportFormats) as ExportFormat[];
const signatures: Record<ExportFormat, string> = {
  txt: "meeting",
  srt: "1\n00:",
  vtt: "WEBVTT",
  pdf: "%PDF-1.7",
  docx: "PK",
};
const document = transcript(Object.values(samples).flat());

test.each(formats)("%s: the same record gives the same bytes, and no file stays behind", async (format) => {
  using directory = temporaryDirectory();
  const options = { workDirectory: directory.path };
  const first = Buffer.from(await exportTranscript(format, document, options));
  expect(first.toString("latin1")).toStartWith(signatures[format]);
  expect(first.equals(await exportTranscript(format, document, options))).toBe(true);
  expect(readdirSync(directory.path)).toEqual([]);
});

test("segments may come piece by piece, from where they are stored", async () => {
  using directory = temporaryDirectory();
  async function* stored(): AsyncGenerator<ExportSegment> {
    for (const part of document.segments as ExportSegment[]) yield part;
  }
  const options = { workDirectory: directory.path };
  const whole = Buffer.from(await exportTranscript("srt", document, options));
  expect(whole.equals(await exportTranscript("srt", { ...document, segments: stored() }, options))).toBe(true);
});

test("others get their turn while a long transcript is written", async () => {
  using directory = temporaryDirectory();
  const segments = Array.from({ length: 3000 }, (_, index) => segment(`Sentence ${index}.`, index * 2, index * 2 + 1));
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await exportTranscript("srt", transcript([], { segments }), { workDirectory: directory.path });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test("one that takes more memory than it may is too large, and nothing of it is left", async () => {
  using directory = temporaryDirectory();
  const segments = Array.from({ length: 20_000 }, (_, index) =>
    segment(`Sentence ${index}.`, index * 2, index * 2 + 1),
  );
  const options = { workDirectory: directory.path, mostChildBytes: 1024 * 1024 };
  const failure = exportTranscript("pdf", transcript([], { segments }), options);
  await expect(failure).rejects.toBeInstanceOf(ExportTooLargeError);
  await expect(failure).rejects.toThrow("too much memory");
  expect(readdirSync(directory.path)).toEqual([]);
});

test("a child that fails says why, and leaves nothing behind", async () => {
  using directory = temporaryDirectory();
  const broken = transcript([], { segments: [{ ...segment("x", 0, 1), speaker: -1 }] });
  const failure = exportTranscript("pdf", broken, { workDirectory: directory.path });
  await expect(failure).rejects.toBeInstanceOf(ExportError);
  await expect(failure).rejects.toThrow("ended with 1");
  expect(readdirSync(directory.path)).toEqual([]);
});

test.each(formats)("%s: an abort ends it with the caller's reason", async (format) => {
  using directory = temporaryDirectory();
  const controller = new AbortController();
  const segments = Array.from({ length: 5000 }, (_, index) => segment(`Sentence ${index}.`, index * 2, index * 2 + 1));
  const failure = exportTranscript(format, transcript([], { segments }), {
    workDirectory: directory.path,
    signal: controller.signal,
  });
  setImmediate(() => controller.abort(new Error("the client is gone")));
  await expect(failure).rejects.toThrow("the client is gone");
  expect(readdirSync(directory.path)).toEqual([]);
});

test("more exports than children at once all end", async () => {
  using directory = temporaryDirectory();
  const all = await Promise.all(
    Array.from({ length: 4 }, () =>
      exportTranscript("docx", transcript(["Hello."]), { workDirectory: directory.path }),
    ),
  );
  expect(new Set(all.map((bytes) => bytes.length)).size).toBe(1);
});
