import type { Settings } from "../../config/index.ts";
import type { Recording, Store } from "../../database/index.ts";
import type { ChangeGate } from "../../disk/index.ts";
import type { Sender, Submission } from "../../intake/index.ts";
import type { Library } from "../../library/index.ts";
import type { RecordingQueue } from "../../queue/index.ts";
import { isOpen, type RecordingEvents } from "../../recordings/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { messageOf } from "../../text/index.ts";
import type { RecordingText } from "../../transcripts/index.ts";
import type { ApiError } from "../shared/errors.ts";
import type { ExportAnswers } from "../shared/export-answers.ts";
import type { RequestIntake } from "../shared/request-intake.ts";
import { type FormParts, type ReceivedUpload, toUploadError } from "../shared/upload/index.ts";
import type { UsableModel, UsableModels } from "../shared/usable-models.ts";
import { ClientWait } from "./client-wait.ts";
import type { CompatTask } from "./form.ts";
import { findLanguage } from "./languages.ts";
import { invalidParam, OpenAiError } from "./openai-error.ts";
import type { Parts, Transcript } from "./render.ts";

export interface TranscriptionServices {
  readonly library: Library;
  readonly events: RecordingEvents;
  /** Decides whether the end of a stream may be sent. Other answers wait in the server. */
  readonly changes: ChangeGate;
  readonly queue: Pick<RecordingQueue, "followCommands">;
  readonly requests: RequestIntake;
  readonly compat: () => Settings["compat"];
  readonly log: Logger;
  readonly store: Store;
  readonly exports: ExportAnswers;
  readonly models: UsableModels;
  /** Aborted when the server stops: requests that wait are answered. */
  readonly stopping: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A form that asks for a transcript, and its meaning. */
interface OrderForm<Order> {
  readonly sender: Sender;
  readonly parts: FormParts;
  /** Reads the parts besides the recording. @throws {OpenAiError} 400 with the part that is not valid */
  readonly read: (received: Pick<ReceivedUpload, "fields" | "lists">) => {
    readonly order: Order;
    readonly submission: Omit<Submission, "source">;
  };
}

/** Callbacks for the steps of a create. */
interface CreateListener<Order> {
  /** The recording is accepted, and waits for a place of its account. */
  readonly onNoPlace?: (order: Order) => void;
  /** Called before the recording can be processed. */
  readonly onEntered?: (id: string) => void;
}

/** A recording that has ended, and what its client asked for. */
interface EndedOrder {
  readonly sender: Sender;
  readonly recording: Recording;
  readonly task: CompatTask;
}

interface SpokenLanguage {
  /** ISO 639. */
  readonly language: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

const DAY = 86_400_000;

/**
 * Creates recordings whose clients wait for the transcript, for all APIs of existing clients, and waits with them. The
 * APIs differ in their forms and their answers. A recording is removed when its transcript was delivered, and cancelled
 * when its client waits no longer, as the settings say.
 */
export class WaitingTranscripts {
  readonly #services: TranscriptionServices;

  constructor(services: TranscriptionServices) {
    this.#services = services;
  }

  /**
   * Begins the wait of a request.
   * @param filePart the form's part with the recording
   * @throws {OpenAiError} 415 if its body is no form
   */
  begin(request: Request, filePart: string): ClientWait {
    requireForm(request, filePart);
    const { stopping, compat } = this.#services;
    return new ClientWait(request, { stopping, maxSeconds: compat().max_wait_seconds });
  }

  /**
   * Receives a form, and creates the recording when the account has a place for it.
   * @returns its id, what is asked for, and the name of the file
   * @throws {ApiError} @throws {IntakeError} for a recording that is refused
   */
  async create<Order>(
    request: Request,
    wait: ClientWait,
    { sender, parts, read }: OrderForm<Order>,
    { onNoPlace, onEntered }: CreateListener<Order> = {},
  ): Promise<{ readonly id: string; readonly order: Order; readonly fileName: string }> {
    const { requests } = this.#services;
    const { intake } = requests;
    using transfer = requests.open(request, sender.account);
    requests.showLimits(request, sender.account);
    using turn = intake.limits.enqueue(sender.account);
    const upload = await transfer.receive(parts);
    if (!upload.ok) throw uploadError(upload.failure, transfer.maxFileBytes);
    await using received = upload;
    wait.signal.throwIfAborted();
    const { order, submission } = read(received);
    if (received.file === null) throw invalidParam(parts.file ?? "file", "Send a recording.");
    const source = { type: "file" as const, file: received.file };
    await intake.examine(source, sender);
    if (!turn.hasPlace) onNoPlace?.(order);
    const place = await turn.place(wait.signal);
    const { id } = await requests.create({ request, sender, place }, { ...submission, source }, (_, created) =>
      onEntered?.(created.id),
    );
    return { id, order, fileName: received.file.name };
  }

  /**
   * Waits for the end of a recording.
   * @returns its record, with a transcript that may be empty
   * @throws {ApiError} if it has none, or the wait ends early
   */
  async ended(id: string, wait: ClientWait): Promise<Recording> {
    const recording = await this.#untilEnded(id, wait);
    const error = failureOf(recording, this.#services.now());
    if (recording !== null && error === null) return recording;
    await this.answered(id, wait);
    throw error;
  }

  /** Removes a recording that has ended, and whose answer is ready, unless it is kept. */
  async answered(id: string, wait: ClientWait): Promise<void> {
    const { library } = this.#services;
    if (wait.end === "disconnected") return this.#abandon(id, wait);
    if (library.find(id)?.isTransient === true) await this.#withoutError(id, () => library.transient.discard(id));
  }

  /**
   * Creates a transient recording, waits for its language, and withdraws it: no more of it is needed.
   * @returns null if it has no speech
   * @throws {ApiError} if the recording is refused or fails, or the wait ends early
   * @throws {IntakeError} if the recording is refused
   */
  async language(request: Request, wait: ClientWait, form: OrderForm<unknown>): Promise<SpokenLanguage | null> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const found: { language?: SpokenLanguage } = {};
    using listening = new DisposableStack();
    const onEntered = (created: string) => {
      const stop = this.#services.events.onLanguage(created, (language) => {
        found.language = language;
        resolve();
      });
      listening.defer(stop);
    };
    const { id } = await this.create(request, wait, form, { onEntered });
    const recording = await this.#untilEnded(id, wait, promise);
    await this.#withdraw(id);
    const error = found.language === undefined ? failureOf(recording, this.#services.now()) : null;
    if (error !== null) throw error;
    return found.language ?? null;
  }

  /** Returns an answer that comes in parts. A long one is sent from a file, so that a slow client takes no memory. */
  send(request: Request, { accountId }: Recording, parts: Parts, headers: AnswerHeaders): Promise<Response> {
    const { exports } = this.#services;
    return exports.sendText({ request, owner: accountId }, headers, (maker, signal) => maker.write(parts, signal));
  }

  /** Returns an answer with a transcript or a translation in a text format. */
  sendAs(format: "srt" | "vtt" | "tsv", request: Request, of: EndedOrder, headers: AnswerHeaders): Promise<Response> {
    const { exports } = this.#services;
    const owner = of.recording.accountId;
    const transcript = this.#textOf(of);
    return exports.sendText({ request, owner }, headers, (maker, signal) =>
      maker.make({ owner, transcript, format }, signal),
    );
  }

  transcriptOf(sender: Sender, recording: Recording, task: CompatTask): Transcript {
    const text = this.#textOf({ sender, recording, task });
    return {
      task,
      durationSeconds: recording.durationSeconds ?? 0,
      language: text.language,
      segments: () => text.allSegments(),
    };
  }

  /** Returns the text that a client asked for; without speech, the empty transcript. */
  #textOf({ sender, recording, task }: EndedOrder): RecordingText {
    const { library } = this.#services;
    const hasText = recording.status === "completed";
    return task === "translate" && hasText
      ? library.translation(sender, recording)
      : library.transcriptOf(sender, recording);
  }

  /**
   * Waits until a recording has ended.
   * @param enough ends the wait early when it resolves; nothing happens to the recording then
   * @returns its record; null if it was deleted
   * @throws the reason of the wait's signal when it ends early; the recording is then cancelled, or kept
   */
  async #untilEnded(id: string, wait: ClientWait, enough?: Promise<void>): Promise<Recording | null> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => reject(wait.signal.reason);
    const { library, events } = this.#services;
    const unsubscribe = events.onEnded(`client of ${id}`, (ended) => {
      if (ended.id === id) resolve();
    });
    wait.signal.addEventListener("abort", leave, { once: true });
    try {
      if (wait.signal.aborted) leave();
      const before = library.find(id);
      if (before === null || !isOpen(before.status)) resolve();
      await Promise.race([promise, ...(enough === undefined ? [] : [enough])]);
      return library.find(id);
    } catch (error) {
      await this.#abandon(id, wait);
      throw error;
    } finally {
      unsubscribe();
      wait.signal.removeEventListener("abort", leave);
    }
  }

  /** Removes a transient recording of which no more is needed, and refunds its charge. */
  async #withdraw(id: string): Promise<void> {
    const { library, queue, requests } = this.#services;
    await this.#withoutError(id, async () => {
      const withdrawn = library.transient.withdraw(id);
      queue.followCommands();
      requests.intake.limits.serveWaiting();
      await withdrawn;
    });
  }

  /** Cancels or keeps a recording whose client waits no longer. */
  async #abandon(id: string, { end }: ClientWait): Promise<void> {
    const { library, queue, requests, compat } = this.#services;
    await this.#withoutError(id, async () => {
      const recording = library.find(id);
      if (recording === null) return;
      if (compat().keep_abandoned) return library.transient.keep(id);
      if (recording.isTransient) return await this.#withdraw(id);
      // A kept recording is cancelled only if its client has left: after a restart it is processed to its end.
      if (end !== "disconnected") return;
      library.transient.abandon(id);
      queue.followCommands();
      requests.intake.limits.serveWaiting();
    });
  }

  /** Logs an error: the next start of the server removes what is left. */
  async #withoutError(recordingId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#services.log.error({ event: "compat.removal_failed", recordingId, detail: messageOf(error) });
    }
  }
}

/**
 * Returns the language that a client means; null for language detection.
 * @param param the field that names it
 * @throws {OpenAiError} 400 for an unknown one
 */
export function languageFor({ languages }: UsableModel, sent: string | null, param = "language"): string | null {
  const language = sent === null ? null : findLanguage(languages, sent);
  if (language === undefined) throw invalidParam(param, "The model does not know this language.");
  return language?.code ?? null;
}

type AnswerHeaders = Readonly<Record<string, string>>;

/** Headers of an answer in JSON. */
export const JSON_TYPE: AnswerHeaders = { "Content-Type": "application/json" };

/** Returns the headers of an answer in plain text. Some clients read a text without a charset as Latin-1. */
export function textType(mediaType = "text/plain"): AnswerHeaders {
  return { "Content-Type": `${mediaType}; charset=utf-8` };
}

/** @throws {OpenAiError} 415 if the body is no form */
function requireForm(request: Request, filePart: string): void {
  const contentType = request.headers.get("content-type") ?? "";
  if (/^multipart\/form-data\s*(;|$)/i.test(contentType)) return;
  throw new OpenAiError("bad_request", `Send the recording as multipart/form-data, in the part ${filePart}.`, {
    status: 415,
    code: "unsupported_content_type",
  });
}

function uploadError(failure: Parameters<typeof toUploadError>[0], maxFileBytes: number): Error {
  if (failure.kind !== "file_too_large") return toUploadError(failure, maxFileBytes);
  return new OpenAiError("file_too_large", `The file is larger than ${maxFileBytes} bytes.`, { param: "file" });
}

/** Returns the error of a recording without a transcript; null for one with a transcript, which may be empty. */
function failureOf(recording: Recording | null, now: number): ApiError | null {
  if (recording === null) return new OpenAiError("internal_error", "The recording was deleted.", { retry: false });
  if (recording.status === "completed") return null;
  switch (recording.failureReason) {
    // Clients check their configuration with short sounds, and expect an empty text.
    case "no_speech":
    case "too_short":
      return null;
    case "quota_exceeded":
      return new OpenAiError("rate_limited", "This account has no audio allowance left today.", {
        code: "insufficient_quota",
        retry: false,
        // The allowance is that of a UTC day.
        retryAfterSeconds: Math.ceil((DAY - (now % DAY)) / 1000),
      });
    case "internal":
    case null:
      return internalError(recording.failureCause);
  }
}

function internalError(cause: string | null): OpenAiError {
  if (cause === "input_unreadable" || cause === "recording_too_long") {
    return invalidParam("file", "The recording can't be processed: it is damaged or too long.");
  }
  if (cause === "cancelled") {
    return new OpenAiError("internal_error", "The operator has cancelled this recording.", { retry: false });
  }
  return new OpenAiError("internal_error", "Something went wrong on our side. Try again later.");
}
