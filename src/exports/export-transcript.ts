import { rmSync, truncateSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type ChildOptions, runExportChild } from "./child-process.ts";
import type { ExportDocument } from "./document.ts";
import { type ExportFormat, isTextFormat } from "./formats.ts";

/** Number of segments or parts of a text before the event loop runs: a few milliseconds of work. */
const ITEMS_PER_BATCH = 200;

/**
 * Number of characters that are collected before a write. A shorter text stays in memory. The transcript of two hours
 * fits, so it can be exported even if the disk is not writable.
 */
const CHARACTERS_PER_WRITE = 256 * 1024;

export interface ExportOptions extends ChildOptions {
  /** Path of the output files, without an extension. No file may exist there. */
  readonly path: string;
  /** Called before the first file is written. Reserves disk space until the export is complete, or throws. */
  readonly reserve?: () => Disposable;
}

/** A completed export. A long one is in a file, which is removed on disposal. */
export interface ExportResult extends Disposable {
  readonly content: Blob;
  readonly isInMemory: boolean;
}

/**
 * Exports a transcript in one of the formats. The same document gives the same bytes. Text formats are written in this
 * process, in parts, so that the event loop is not blocked. PDF and DOCX are written in a short-lived child process.
 * The memory of this process does not grow with the transcript, except by its text for TextGrid and EAF.
 * @throws {ExportError} when the child fails
 * @throws {ExportTooLargeError} when the child exceeds its limits
 * @throws the signal's reason after an abort
 */
export async function exportTranscript(
  format: ExportFormat,
  document: ExportDocument,
  options: ExportOptions,
): Promise<ExportResult> {
  options.signal?.throwIfAborted();
  const path = `${options.path}.${format}`;
  const remove = () => removeFile(path);
  try {
    if (isTextFormat(format)) {
      // Loaded when needed: its rules of Unicode for line breaks take 20 ms, which every command would spend.
      const { textWriters } = await import("./text-formats.ts");
      const segments = withPauses(document.segments, options.signal);
      const parts = withPauses(textWriters[format]({ ...document, segments }), options.signal);
      return await writeText(parts, { ...options, path });
    } else {
      using _reserved = options.reserve?.();
      await runExportChild(format, document, path, options);
    }
    return { content: Bun.file(path), isInMemory: false, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Writes a text that comes in parts. A long one is written to a file, so that the text takes no memory.
 * @param options with the path of the file
 * @throws the signal's reason after an abort
 */
export async function writeText(
  text: AsyncIterable<string>,
  { path, reserve, signal }: Pick<ExportOptions, "path" | "reserve" | "signal">,
): Promise<ExportResult> {
  using reserved = new DisposableStack();
  let file: FileHandle | null = null;
  let parts: string[] = [];
  let characters = 0;
  try {
    for await (const part of text) {
      parts.push(part);
      characters += part.length;
      if (characters < CHARACTERS_PER_WRITE) continue;
      signal?.throwIfAborted();
      if (file === null) {
        reserved.use(reserve?.());
        file = await open(path, "wx", 0o600);
      }
      await file.appendFile(parts.join(""));
      parts = [];
      characters = 0;
    }
    if (file === null) return { content: new Blob(parts), isInMemory: true, [Symbol.dispose]() {} };
    await file.appendFile(parts.join(""));
    return { content: Bun.file(path), isInMemory: false, [Symbol.dispose]: () => removeFile(path) };
  } catch (error) {
    if (file !== null) removeFile(path);
    throw error;
  } finally {
    await file?.close();
  }
}

/** Yields the same items and lets the event loop run in between. */
async function* withPauses<T>(
  items: AsyncIterable<T> | Iterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  let read = 0;
  for await (const item of items) {
    yield item;
    if (++read % ITEMS_PER_BATCH !== 0) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}

/** Removes a file. A response that still sends it ends here: a client that reads slowly would keep its bytes on disk. */
function removeFile(path: string): void {
  try {
    truncateSync(path, 0);
  } catch {
    // It was never written.
  }
  rmSync(path, { force: true });
}
