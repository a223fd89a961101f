import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { DiskSpace } from "../disk/index.ts";
import type { DataDirectory } from "../storage/index.ts";
import type { RecordingText } from "../transcripts/index.ts";
import type { ExportLayout } from "./document.ts";
import { ExportQueue } from "./export-queue.ts";
import { type ExportOptions, type ExportResult, exportTranscript, writeText } from "./export-transcript.ts";
import { type ExportFormat, isTextFormat } from "./formats.ts";
import { recordingDocument } from "./recording-document.ts";

interface MakerServices {
  readonly dataDirectory: Pick<DataDirectory, "incoming">;
  readonly diskSpace: Pick<DiskSpace, "reserve">;
}

/** An export of a transcript or a translation. */
export interface WantedExport {
  /** The account for which it is made, or a name that is no account's id. Owners are served in round robin. */
  readonly owner: string;
  readonly transcript: RecordingText;
  readonly format: ExportFormat;
  /** Whether the names of speakers that have one replace their letters. */
  readonly hasNames?: boolean;
  readonly layout?: ExportLayout;
}

/** Number of exports generated in parallel. More would take memory and cores from the processing of recordings. */
const SLOTS = 2;
/** Reserved disk space: twice that of an export of 18 hours, which takes 17 MB as JSON and 5 MB as PDF. */
const RESERVED_BYTES = 32 * 1024 * 1024;

/** Generates the exports of a server, for requests and for watched folders. Owners are served in round robin. */
export class ExportMaker {
  readonly #services: MakerServices;
  /** Text exports take a fraction of a second, so they do not wait for the child processes of PDF and DOCX. */
  readonly #texts = new ExportQueue(SLOTS);
  readonly #documents = new ExportQueue(SLOTS);

  constructor(services: MakerServices) {
    this.#services = services;
  }

  /**
   * Generates an export when it is the owner's turn. The caller disposes of it.
   * @throws as `exportTranscript`
   * @throws {MachineError} when there is no disk space for the file
   */
  make({ owner, transcript, format, hasNames, layout }: WantedExport, signal: AbortSignal): Promise<ExportResult> {
    const queue = isTextFormat(format) ? this.#texts : this.#documents;
    const make = () => exportTranscript(format, recordingDocument(transcript, hasNames, layout), this.#target(signal));
    return queue.run(owner, make, signal);
  }

  /** Writes a text that comes in parts. @throws as `make` */
  write(parts: AsyncIterable<string>, signal: AbortSignal): Promise<ExportResult> {
    return writeText(parts, this.#target(signal));
  }

  /** Returns where and how an export is written. */
  #target(signal: AbortSignal): ExportOptions {
    const { dataDirectory, diskSpace } = this.#services;
    return {
      path: join(dataDirectory.incoming, `export-${randomUUID()}`),
      reserve: () => diskSpace.reserve(RESERVED_BYTES, "work"),
      signal,
    };
  }
}
