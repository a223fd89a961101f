import {
  type ExportMaker,
  type ExportResult,
  exportFileName,
  exportMediaTypes,
  type WantedExport,
} from "../../exports/index.ts";
import { translationLanguage } from "../../transcripts/index.ts";
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

/**
 * Generates and sends exports, for the API and the console. Each owner may have a bounded number of exports. Long ones
 * are sent from files, so that slow clients take no memory. A file is removed when its answer ends or its recording is
 * deleted.
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
          "Content-Disposition": contentDisposition(
            exportFileName(recording.sourceName, format, translationLanguage(transcript)),
            recording.id,
          ),
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
   * Sends a text to a client that has waited for its transcript. The recording may be deleted as soon as there is an
   * answer.
   * @param headers all headers of the answer
   * @param make makes the text
   * @throws {MachineError} when there is no disk space for the file
   */
  async sendText(
    asked: Pick<ExportRequest, "request" | "owner">,
    headers: Readonly<Record<string, string>>,
    make: (maker: ExportMaker, signal: AbortSignal) => Promise<ExportResult>,
  ): Promise<Response> {
    const { maker } = this.#services;
    const { content } = await this.#open(this.#waiting, asked, (signal) => make(maker, signal));
    return new Response(content, { headers });
  }

  /** Makes a file, which is removed when its answer ends. @throws what `make` throws */
  async #open(
    answers: OpenAnswers,
    {
      request,
      owner,
      isWanted = () => true,
    }: Pick<ExportRequest, "request" | "owner"> & { readonly isWanted?: () => boolean },
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
