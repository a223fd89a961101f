import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { MachineError } from "../../src/disk/index.ts";
import {
  ExportError,
  type ExportFormat,
  type ExportSegment,
  ExportTooLargeError,
  exportFormats,
  exportTranscript,
} from "../../src/exports/index.ts";
import { exportedBytes, hostileTexts, samples, segment, transcript } from "../support/transcripts.ts";

setDefaultTimeout(60_000);

const signatures: Record<ExportFormat, string> = {
  txt: "meeting",
  srt: "1\n00:",
  vtt: "WEBVTT",
  pdf: "%PDF-1.7",
  docx: "PK",
  json: '{"recording":{"id"',
  rttm: "SPEAKER meeting 1 0.000 4.000 <NA> <NA> A <NA> <NA>",
  csv: "start,end,speaker,text\r\n0.000,4.000,A,",
  textgrid: 'File type = "ooTextFile"',
  eaf: '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT',
  tsv: "start\tend\ttext\n0\t4000\t",
  lrc: "[ti:meeting]\n[length:02:32]\n\n[00:00.00]",
  md: '---\ntitle: "meeting"\nid: "0192a4d5-0000-7000-8000-000000000001"\ndate: "2026-11-21T08:05:00.000Z"\n',
  ttml: '<?xml version="1.0" encoding="UTF-8"?>\n<tt xmlns="http://www.w3.org/ns/ttml"',
  exb: '<?xml version="1.0" encoding="UTF-8"?>\n<basic-transcription>',
  whisper: '{"segments":[\n{"id":0,"start":0,"end":4,"text":" ',
  podcast: '{"version":"1.0.0","segments":[\n{"speaker":"A","startTime":0,"endTime":4,"body":"',
};
const document = transcript(Object.values(samples).flat());
const sentences = (count: number, padding = "") =>
  transcript([], {
    segments: Array.from({ length: count }, (_, index) =>
      segment(`Sentence ${index}${padding}.`, index * 2, index * 2 + 1),
    ),
  });
/** 1 MB of text, which is written to a file in several parts. */
const long = sentences(2500, ", and so on".repeat(35));

test.each(exportFormats)("%s: the same document gives the same bytes", async (format) => {
  const first = Buffer.from(await exportedBytes(format, document));
  expect(first.toString("latin1")).toStartWith(signatures[format]);
  expect(first.equals(await exportedBytes(format, document))).toBe(true);
});

test.each([
  ["pdf", sentences(20)],
  ["docx", sentences(20)],
  ["srt", long],
  ["json", long],
  ["textgrid", long],
  ["eaf", long],
] as const)("%s: a long export is a file, which disposal removes", async (format, made) => {
  using directory = temporaryDirectory();
  {
    using file = await exportTranscript(format, made, { path: join(directory.path, "export") });
    expect(readdirSync(directory.path)).toEqual([`export.${format}`]);
    expect(file.content.size).toBeGreaterThan(1000);
  }
  expect(readdirSync(directory.path)).toEqual([]);
});

test.each(["pdf", "docx"] as const)("%s: hostile texts, names and titles are exported", async (format) => {
  const texts = Object.values(hostileTexts);
  const hostile = transcript(texts, { title: texts.join(""), name: texts.join(""), speakers: texts });
  expect((await exportedBytes(format, hostile)).length).toBeGreaterThan(1000);
});

test("an export written to a file has the same bytes as one in memory", async () => {
  const segments = long.segments as ExportSegment[];
  const parts = [segments.slice(0, 1), segments.slice(0, 1250), segments];
  const [head, half, whole] = await Promise.all(
    parts.map(async (some) => Buffer.from(await exportedBytes("txt", { ...long, segments: some })).toString()),
  );
  expect(whole?.startsWith(half?.trimEnd() ?? "none")).toBe(true);
  expect(half?.startsWith(head?.trimEnd() ?? "none")).toBe(true);
  // Each text follows the one before it.
  let end = 0;
  const missing = segments.filter(({ text }) => {
    const start = whole?.indexOf(text, end) ?? -1;
    if (start >= 0) end = start + text.length;
    return start < 0;
  });
  expect(missing).toEqual([]);
});

test("a short text needs neither a file nor disk space", async () => {
  const reserve = () => {
    throw new MachineError("NO_ROOM", "the disk is full");
  };
  using file = await exportTranscript("txt", document, { path: "/nowhere/export", reserve });
  expect(await file.content.text()).toContain("Xin chào");
});

test.each(["pdf", "docx", "srt"] as const)("%s: nothing is written without disk space for the file", async (format) => {
  using directory = temporaryDirectory();
  const reserve = () => {
    throw new MachineError("NO_ROOM", "the disk is full");
  };
  const failure = exportTranscript(format, long, { path: join(directory.path, "export"), reserve });
  await expect(failure).rejects.toThrow("the disk is full");
  expect(readdirSync(directory.path)).toEqual([]);
});

test("segments may be read one by one from storage", async () => {
  async function* stored(): AsyncGenerator<ExportSegment> {
    for (const part of document.segments as ExportSegment[]) yield part;
  }
  const whole = Buffer.from(await exportedBytes("srt", document));
  expect(whole.equals(await exportedBytes("srt", { ...document, segments: stored() }))).toBe(true);
});

test.each(["srt", "textgrid", "eaf"] as const)(
  "%s: the event loop runs while a long transcript is written",
  async (format) => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await exportedBytes(format, sentences(3000));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  },
);

test("an export that exceeds its memory limit is too large and leaves no file", async () => {
  using directory = temporaryDirectory();
  const options = { path: join(directory.path, "export"), maxChildBytes: 1024 * 1024 };
  const failure = exportTranscript("pdf", sentences(5000), options);
  await expect(failure).rejects.toBeInstanceOf(ExportTooLargeError);
  await expect(failure).rejects.toThrow("too much memory");
  expect(readdirSync(directory.path)).toEqual([]);
});

test("a failed export reports the child's error and leaves no file", async () => {
  using directory = temporaryDirectory();
  const broken = transcript([], { segments: [{ ...segment("x", 0, 1), speaker: -1 }] });
  const failure = exportTranscript("pdf", broken, { path: join(directory.path, "export") });
  await expect(failure).rejects.toBeInstanceOf(ExportError);
  await expect(failure).rejects.toThrow("exited with 1");
  expect(readdirSync(directory.path)).toEqual([]);
});

test.each(exportFormats)("%s: an abort rejects with the caller's reason and leaves no file", async (format) => {
  using directory = temporaryDirectory();
  const controller = new AbortController();
  const failure = exportTranscript(format, sentences(5000), {
    path: join(directory.path, "export"),
    signal: controller.signal,
  });
  setImmediate(() => controller.abort(new Error("the client is gone")));
  await expect(failure).rejects.toThrow("the client is gone");
  expect(readdirSync(directory.path)).toEqual([]);
});
