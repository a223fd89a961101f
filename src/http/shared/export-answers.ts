import {
  type ExportMaker,
  type ExportResult,
  exportFileName,
  exportMediaTypes,
  type TextFormat,
  type WantedExport,
} from "../../exports/index.ts";
import type { Transcript } from "../../recordings/index.ts";
import { contentDisposition } from "./content-disposition.ts";
import { ApiError, notFound } from "./errors.ts";
import { MAX_OPEN_EXPORTS, OpenAnswers } from "./open-answers.ts";
import { contextOf } from "./request-context.ts";

interface ExportServices {
  /** Returns whether a recording is deleted. */
  readonly isDeleted: (id: string) => boolean;
  readonly maker: ExportMaker;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface ExportRequest extends WantedExport {
  readonly request: Request;
  /** Additional headers of the answer, besides those that describe the file. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client that has waited for its transcript. */
interface WaitingRequest {
  readonly request: Request;
  readonly owner: string;
  /** All headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

interface OpenRequest {
  readonly request: Request;
  readonly owner: string;
  /** Returns whether the answer is still needed. */
  readonly isWanted?: () => boolean;
}

/**
 * Generates and sends exports, for the API and the console. Each owner may have a bounded number of exports. Long exports are sent from files, so that slow clients take no memory. A file is removed
 * when its answer ends or its recording is deleted.
 */
export class ExportAnswers {
  readonly #services: ExportServices;
  readonly #answers: OpenAnswers;
  /** Answers to clients that have waited for their transcripts. */
  readonly #waiting: OpenAnswers;

  constructor(services: ExportServices) {
    this.#services = services;
    const refusal = `${MAX_OPEN_EXPORTS} exports of this account are being prepared or sent; read their answers before asking for more.`;
    this.#answers = new OpenAnswers({ perOwner: MAX_OPEN_EXPORTS, refusal }, services.now);
    // The requests that wait are bounded themselves, and none of them is refused after its recording was processed.
    this.#waiting = new OpenAnswers({ perOwner: Number.POSITIVE_INFINITY, refusal }, services.now);
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
    const isWanted = () => !this.#isDeleted(recording.id);
    try {
      const make = (signal: AbortSignal) => this.#services.maker.make(exportRequest, signal);
      const { content, isInMemory } = await this.#open(this.#answers, { request, owner, isWanted }, make);
      const { size } = content;
      if (isInMemory) contextOf(request).heldBytes = size;
      return new Response(content, {
        headers: {
          ...exportRequest.headers,
          "Content-Type": exportMediaTypes[format],
          "Content-Disposition": contentDisposition(exportFileName(recording.sourceName, format), recording.id),
          // Without this header Bun would answer a Range by itself: with 206, or with 416 without the error envelope.
          "Content-Range": size === 0 ? "bytes */0" : `bytes 0-${size - 1}/${size}`,
        },
      });
    } catch (error) {
      // An export of a recording that is being deleted may fail in any way.
      throw isWanted() ? error : notFound();
    }
  }

  /**
   * Sends a text that comes in parts to a client that has waited for its transcript. The recording may be deleted as
   * soon as there is an answer.
   * @throws {ApiError} 429 when the owner has too many open
   * @throws {MachineError} when there is no disk space for the file
   */
  async sendParts({ request, owner, parts, headers }: WaitingRequest & { readonly parts: AsyncIterable<string> }) {
    const make = (signal: AbortSignal) => this.#services.maker.write(parts, signal);
    const { content } = await this.#open(this.#waiting, { request, owner }, make);
    return new Response(content, { headers });
  }

  /** Sends a transcript in a text format to such a client, when it is the owner's turn. @throws as `sendParts` */
  async sendText({
    request,
    owner,
    transcript,
    format,
    headers,
  }: WaitingRequest & { readonly transcript: Transcript; readonly format: TextFormat }) {
    const make = (signal: AbortSignal) => this.#services.maker.make({ owner, transcript, format }, signal);
    const { content } = await this.#open(this.#waiting, { request, owner }, make);
    return new Response(content, { headers });
  }

  /** Makes a file, which is removed when its answer ends. @throws what `make` throws */
  async #open(
    answers: OpenAnswers,
    { request, owner, isWanted = () => true }: OpenRequest,
    make: (signal: AbortSignal) => Promise<ExportResult>,
  ): Promise<ExportResult> {
    const controller = new AbortController();
    let file: ExportResult | null = null;
    const answer = answers.open(owner, contextOf(request).connection, {
      isWanted,
      onEnd: () => {
        controller.abort();
        file?.[Symbol.dispose]();
      },
    });
    request.signal.addEventListener("abort", answer.close, { once: true });
    try {
      file = await make(controller.signal);
      answer.send(file.content.size);
      if (!isWanted()) throw notFound();
      controller.signal.throwIfAborted();
      return file;
    } catch (error) {
      const isEnded = controller.signal.aborted;
      answer.close();
      file?.[Symbol.dispose]();
      // The check of open answers may detect a lost connection before the request's own signal does.
      if (isEnded) throw new ApiError("bad_request", "The connection was lost before the answer.");
      throw error;
    }
  }

  /** Ends the exports of deleted recordings and removes their files. */
  removeDeleted(): void {
    this.#answers.check();
  }

  /** Removes all files. Called when the server has stopped. */
  close(): void {
    this.#answers.close();
    this.#waiting.close();
  }

  #isDeleted(id: string): boolean {
    try {
      return this.#services.isDeleted(id);
    } catch {
      // If the database can't be read now, the recording does not count as deleted.
      return false;
    }
  }
}
