import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  type ExportFormat,
  ExportQueue,
  type ExportResult,
  exportExtension,
  exportMediaTypes,
  exportTranscript,
  isTextFormat,
  recordingDocument,
  type TextFormat,
} from "../../exports/index.ts";
import type { Library } from "../../library/index.ts";
import type { Transcript } from "../../recordings/index.ts";
import type { DataDirectory, DiskSpace } from "../../storage/index.ts";
import { contentDisposition, safeFileName } from "./content-disposition.ts";
import { ApiError, notFound } from "./errors.ts";
import { MAX_OPEN_ANSWERS, OpenAnswers } from "./open-answers.ts";
import { contextOf } from "./request-context.ts";

interface ExportServices {
  readonly library: Pick<Library, "find">;
  readonly dataDirectory: Pick<DataDirectory, "incoming">;
  readonly diskSpace: Pick<DiskSpace, "reserve">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface ExportRequest {
  readonly request: Request;
  /** The account that sends the request, or a name that is no account's id. Owners are served in round robin. */
  readonly owner: string;
  readonly transcript: Transcript;
  readonly format: ExportFormat;
  /** Whether the names of speakers that have one replace their letters. */
  readonly hasNames?: boolean;
  /** Additional headers of the answer, besides those that describe the file. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Number of exports generated in parallel. More would take memory and cores from the processing of recordings. */
const SLOTS = 2;
/** Reserved disk space: twice that of an export of 18 hours, which takes 17 MB as JSON and 5 MB as PDF. */
const RESERVED_BYTES = 32 * 1024 * 1024;

/**
 * Generates and sends exports, for the API and the console. Owners are served in round robin, and each may have a
 * bounded number of exports. Long exports are sent from files, so that slow clients take no memory. A file is removed
 * when its answer ends or its recording is deleted.
 */
export class ExportAnswers {
  readonly #services: ExportServices;
  /** Text exports take a fraction of a second, so they do not wait for the child processes of PDF and DOCX. */
  readonly #texts = new ExportQueue(SLOTS);
  readonly #documents = new ExportQueue(SLOTS);
  readonly #answers: OpenAnswers;

  constructor(services: ExportServices) {
    this.#services = services;
    this.#answers = new OpenAnswers(MAX_OPEN_ANSWERS, "exports of this account", services.now);
  }

  /**
   * Generates an export.
   * @returns the answer with the file
   * @throws {ApiError} 429 when the owner has too many open, 404 when the recording is deleted meanwhile
   * @throws {MachineError} when there is no disk space for the file
   */
  async answer(exportRequest: ExportRequest): Promise<Response> {
    const { request, owner, transcript, format } = exportRequest;
    const { recording } = transcript;
    const controller = new AbortController();
    let file: ExportResult | null = null;
    const answer = this.#answers.open(owner, contextOf(request).connection, {
      isWanted: () => !this.#isDeleted(recording.id),
      onEnd: () => {
        controller.abort();
        file?.[Symbol.dispose]();
      },
    });
    request.signal.addEventListener("abort", answer.close, { once: true });
    try {
      file = await this.make(exportRequest, controller.signal);
      answer.send(file.content.size);
      if (this.#isDeleted(recording.id)) throw notFound();
      controller.signal.throwIfAborted();
      const { size } = file.content;
      return new Response(file.content, {
        headers: {
          ...exportRequest.headers,
          "Content-Type": exportMediaTypes[format],
          "Content-Disposition": contentDisposition(
            safeFileName(recording.sourceName, exportExtension(format)),
            recording.id,
          ),
          // Without this header Bun would answer a Range by itself: with 206, or with 416 without the error envelope.
          "Content-Range": size === 0 ? "bytes */0" : `bytes 0-${size - 1}/${size}`,
        },
      });
    } catch (error) {
      const isEnded = controller.signal.aborted;
      answer.close();
      file?.[Symbol.dispose]();
      // An export of a recording that is being deleted may fail in any way.
      if (this.#isDeleted(recording.id)) throw notFound();
      // The check of open answers may detect a lost connection before the request's own signal does.
      if (isEnded) throw new ApiError("bad_request", "The connection was lost before the answer.");
      throw error;
    }
  }

  /**
   * Returns an export in a text format, when it is the owner's turn.
   * @throws the signal's reason after an abort
   */
  async text(
    wanted: Pick<ExportRequest, "owner" | "transcript"> & { readonly format: TextFormat },
    signal: AbortSignal,
  ): Promise<string> {
    using file = await this.make(wanted, signal);
    return await file.content.text();
  }

  /**
   * Generates an export when it is the owner's turn. The caller disposes of it.
   * @throws as `exportTranscript`
   * @throws {MachineError} when there is no disk space for the file
   */
  make(
    { owner, transcript, format, hasNames }: Omit<ExportRequest, "request">,
    signal: AbortSignal,
  ): Promise<ExportResult> {
    const { dataDirectory, diskSpace } = this.#services;
    const queue = isTextFormat(format) ? this.#texts : this.#documents;
    const make = () =>
      exportTranscript(format, recordingDocument(transcript, hasNames), {
        path: join(dataDirectory.incoming, `export-${randomUUID()}`),
        reserve: () => diskSpace.reserve(RESERVED_BYTES, "work"),
        signal,
      });
    return queue.run(owner, make, signal);
  }

  /** Ends the exports of deleted recordings and removes their files. */
  removeDeleted(): void {
    this.#answers.check();
  }

  /** Removes all files. Called when the server has stopped. */
  close(): void {
    this.#answers.close();
  }

  #isDeleted(id: string): boolean {
    try {
      return this.#services.library.find(id) === null;
    } catch {
      // If the database can't be read now, the recording does not count as deleted.
      return false;
    }
  }
}
