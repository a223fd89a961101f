import { rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { runExportChild } from "./child-process.ts";
import type { ExportDocument, ExportSegment } from "./document.ts";
import type { ExportFormat } from "./formats.ts";
import { writeSrt } from "./srt.ts";
import { writeTxt } from "./txt.ts";
import { writeVtt } from "./vtt.ts";

const textWriters = { txt: writeTxt, srt: writeSrt, vtt: writeVtt } as const;

/** Segments that are written before the event loop gets a turn: some milliseconds' work. */
const segmentsPerTurn = 200;

/**
 * Characters of a text that are collected before they are written. A shorter text stays in memory: the transcript of two hours
 * fits, and is exported even when nothing can be written to the disk.
 */
const CHARACTERS_PER_WRITE = 256 * 1024;

export interface ExportOptions {
  /** Path of the files to be written, without an extension; nothing must be there. */
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Called before the first file is written: reserves disk space until the export is made, or throws. */
  readonly reserve?: () => Disposable;
  /** Resident memory that the child process may take. */
  readonly mostChildBytes?: number;
}

/** A finished export. A long one is in a file, which is removed when the export is disposed of. */
export interface MadeExport extends Disposable {
  readonly content: Blob;
}

/**
 * Makes a file of a transcript in one of the formats; the same document gives the same bytes. Text is written here, in parts, so
 * that the event loop stays free; PDF and DOCX in a short-lived child process. Memory does not grow with the transcript.
 * @throws {ExportError} when the child fails @throws {ExportTooLargeError} when it passes its limits
 * @throws the signal's reason after an abort
 */
export async function exportTranscript(
  format: ExportFormat,
  document: ExportDocument,
  options: ExportOptions,
): Promise<MadeExport> {
  options.signal?.throwIfAborted();
  const path = `${options.path}.${format}`;
  const remove = () => rmSync(path, { force: true });
  try {
    if (format === "pdf" || format === "docx") {
      using _reserved = options.reserve?.();
      await runExportChild(format, document, path, options);
    } else {
      const segments = withPauses(document.segments, options.signal);
      const text = await writeText(textWriters[format]({ ...document, segments }), path, options.reserve);
      if (text !== null) return { content: text, [Symbol.dispose]() {} };
    }
    return { content: Bun.file(path), [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Writes a long text to a file. @returns a short text; null when it is in the file */
async function writeText(
  text: AsyncIterable<string>,
  path: string,
  reserve: ExportOptions["reserve"],
): Promise<Blob | null> {
  using reserved = new DisposableStack();
  let file: FileHandle | null = null;
  let parts: string[] = [];
  let characters = 0;
  try {
    for await (const part of text) {
      parts.push(part);
      characters += part.length;
      if (characters < CHARACTERS_PER_WRITE) continue;
      if (file === null) {
        reserved.use(reserve?.());
        file = await open(path, "wx", 0o600);
      }
      await file.appendFile(parts.join(""));
      parts = [];
      characters = 0;
    }
    if (file === null) return new Blob(parts);
    await file.appendFile(parts.join(""));
    return null;
  } finally {
    await file?.close();
  }
}

/** Yields the same segments and lets the event loop run in between. */
async function* withPauses(
  segments: ExportDocument["segments"],
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportSegment> {
  let read = 0;
  for await (const segment of segments) {
    yield segment;
    if (++read % segmentsPerTurn !== 0) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}
