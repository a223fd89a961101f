import { runExportChild } from "./child-process.ts";
import type { ExportDocument, ExportSegment } from "./document.ts";
import type { ExportFormat } from "./formats.ts";
import { writeSrt } from "./srt.ts";
import { writeTxt } from "./txt.ts";
import { writeVtt } from "./vtt.ts";

const textWriters = { txt: writeTxt, srt: writeSrt, vtt: writeVtt } as const;

/** Segments between two looks at the event loop: some milliseconds' work. */
const segmentsPerTurn = 200;

export interface ExportOptions {
  /** An existing directory for the files by which a child process is told its work; they are gone when the promise settles. */
  readonly workDirectory: string;
  readonly signal?: AbortSignal | undefined;
  /** Resident memory that the child process may take. */
  readonly mostChildBytes?: number;
}

/**
 * A transcript as a file in one of the formats; the same document gives the same bytes. Text formats are made here, piece
 * by piece, so that the event loop stays free; PDF and DOCX in a short-lived child process.
 * @throws ExportError when the child fails, ExportTooLargeError when it passes its limits; the signal's reason after an abort
 */
export async function exportTranscript(
  format: ExportFormat,
  document: ExportDocument,
  options: ExportOptions,
): Promise<Uint8Array> {
  options.signal?.throwIfAborted();
  if (format === "pdf" || format === "docx") return runExportChild(format, document, options);
  const pieces: string[] = [];
  const segments = unhurried(document.segments, options.signal);
  for await (const piece of textWriters[format]({ ...document, segments })) pieces.push(piece);
  return new TextEncoder().encode(pieces.join(""));
}

/** The same segments, with turns for everything else in between. */
async function* unhurried(
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
