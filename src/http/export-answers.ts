import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  type ExportFormat,
  ExportQueue,
  exportFormats,
  exportTranscript,
  type MadeExport,
  recordingDocument,
} from "../exports/index.ts";
import type { DataDirectory, DiskRoom, Store } from "../storage/index.ts";
import type { Recording, Recordings } from "../transcriptions/index.ts";
import { contentDisposition } from "./content-disposition.ts";
import { ApiError, notFound } from "./errors.ts";
import { rateLimited } from "./rate-limits.ts";
import { type Connection, contextOf } from "./request-context.ts";

export interface ExportServices {
  readonly store: Store;
  readonly recordings: Pick<Recordings, "get">;
  readonly dataDirectory: Pick<DataDirectory, "incoming">;
  readonly room: Pick<DiskRoom, "claim">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface ExportRequest {
  readonly request: Request;
  /** The account that asks, or a name that is no account's id: each owner gets its turn. */
  readonly owner: string;
  readonly recording: Recording;
  readonly format: ExportFormat;
  /** Display names of speakers that have one. */
  readonly speakerNames?: ReadonlyMap<number, string>;
  /** Headers of the answer besides those that describe the file. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An export between its request and the end of its answer. */
interface OpenExport {
  readonly recordingId: string;
  readonly connection: Connection;
  /** Null until the export is made. */
  answer: { readonly file: MadeExport; readonly deadline: number } | null;
}

/** How many exports are made at once: more would take the memory and cores that recordings are processed with. */
const SLOTS = 2;
/** How many exports of one owner may wait, be made or be sent at once. */
const MAX_OPEN_PER_OWNER = 16;
/** Disk space for a file of 18 hours (5 MB as PDF) and the child process's input, several times over. */
const RESERVED_BYTES = 32 * 1024 * 1024;
/** An answer may take a minute, and beyond that as long as its size takes at the slowest speed that is allowed. */
const FIRST_MILLISECONDS = 60_000;
const SLOWEST_BYTES_PER_SECOND = 16 * 1024;
/** How often answers are checked; Bun reports the end of an answer only to those who ask. */
const CHECK_MILLISECONDS = 250;

/**
 * Makes and sends exports, for the API and the console. Exports of different owners are made in round robin, and an owner
 * has a bounded number of them. Long ones are sent from files, so that clients that read slowly take no memory; a file is
 * removed when its answer has ended, when that takes too long, or when its recording is deleted.
 */
export class ExportAnswers {
  readonly #services: ExportServices;
  /** Texts take a fraction of a second, and need not wait for the child processes of PDF and DOCX. */
  readonly #texts = new ExportQueue(SLOTS);
  readonly #documents = new ExportQueue(SLOTS);
  readonly #open = new Map<string, Set<OpenExport>>();
  #checking: Timer | null = null;

  constructor(services: ExportServices) {
    this.#services = services;
  }

  /**
   * Makes an export.
   * @returns the answer with the file
   * @throws {ApiError} 429 when the owner has too many open, 404 when the recording is deleted meanwhile
   * @throws {MachineError} when there is no disk space for the file
   */
  async answer(asked: ExportRequest): Promise<Response> {
    const { request, owner, recording, format } = asked;
    const open = this.#enter(owner, recording.id, contextOf(request).connection);
    const close = () => this.#close(owner, open);
    try {
      const file = await this.#make(asked);
      const deadline = this.#services.now() + answerMilliseconds(file.content.size);
      open.answer = { file, deadline };
      request.signal.throwIfAborted();
      this.#requireRecording(recording.id);
      request.signal.addEventListener("abort", close, { once: true });
      const { mediaType, extension } = exportFormats[format];
      return new Response(file.content, {
        headers: {
          ...asked.headers,
          "Content-Type": mediaType,
          "Content-Disposition": contentDisposition(recording.sourceName ?? "transcript", extension),
        },
      });
    } catch (error) {
      close();
      if (request.signal.aborted) throw new ApiError("bad_request", "The connection was lost before the answer.");
      // An export of a recording that is being deleted may fail in any way.
      this.#requireRecording(recording.id);
      throw error;
    }
  }

  /** Removes the files of a deleted recording; an answer that has begun may still be sent to its end. */
  removeFiles(recordingId: string): void {
    for (const { open } of this.#all()) if (open.recordingId === recordingId) open.answer?.file[Symbol.dispose]();
  }

  #make({ request: { signal }, owner, recording, format, speakerNames }: ExportRequest): Promise<MadeExport> {
    const { store, dataDirectory, room } = this.#services;
    const queue = format === "pdf" || format === "docx" ? this.#documents : this.#texts;
    const make = () =>
      exportTranscript(format, recordingDocument(store, recording, speakerNames), {
        path: join(dataDirectory.incoming, `export-${randomUUID()}`),
        reserve: () => room.claim(RESERVED_BYTES, "work"),
        signal,
      });
    return queue.run(owner, make, signal);
  }

  #requireRecording(id: string): void {
    if (this.#services.recordings.get(id) === null) throw notFound();
  }

  #enter(owner: string, recordingId: string, connection: Connection): OpenExport {
    const known = this.#open.get(owner);
    if (known !== undefined && known.size >= MAX_OPEN_PER_OWNER) this.#check();
    const all = this.#open.get(owner) ?? new Set<OpenExport>();
    if (all.size >= MAX_OPEN_PER_OWNER) {
      const now = this.#services.now();
      const deadlines = [...all].map(({ answer }) => answer?.deadline ?? now + FIRST_MILLISECONDS);
      throw rateLimited(
        `${MAX_OPEN_PER_OWNER} exports of this account are being made or sent; read their answers before asking for more.`,
        Math.min(...deadlines) - now,
      );
    }
    const open: OpenExport = { recordingId, connection, answer: null };
    this.#open.set(owner, all.add(open));
    this.#checking ??= setInterval(() => this.#check(), CHECK_MILLISECONDS).unref();
    return open;
  }

  #close(owner: string, open: OpenExport): void {
    open.answer?.file[Symbol.dispose]();
    const all = this.#open.get(owner);
    all?.delete(open);
    if (all?.size === 0) this.#open.delete(owner);
    if (this.#open.size > 0 || this.#checking === null) return;
    clearInterval(this.#checking);
    this.#checking = null;
  }

  /** Closes the exports whose answers have ended, and ends those that take too long. */
  #check(): void {
    const now = this.#services.now();
    for (const { owner, open } of this.#all()) {
      if (open.answer === null) continue;
      const isLate = now >= open.answer.deadline;
      if (isLate) open.connection.cut();
      if (isLate || !open.connection.isOpen()) this.#close(owner, open);
      // Deleted by the command line, which is another process.
      else if (this.#services.recordings.get(open.recordingId) === null) open.answer.file[Symbol.dispose]();
    }
  }

  #all(): { owner: string; open: OpenExport }[] {
    return [...this.#open].flatMap(([owner, all]) => [...all].map((open) => ({ owner, open })));
  }
}

function answerMilliseconds(bytes: number): number {
  return FIRST_MILLISECONDS + (bytes / SLOWEST_BYTES_PER_SECOND) * 1000;
}
