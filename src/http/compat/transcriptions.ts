import { allSegmentsWithWords, type Recording } from "../../recordings/index.ts";
import type { Store } from "../../storage/index.ts";
import { senderOf } from "../create-transcription.ts";
import { toApiError } from "../error-envelope.ts";
import type { ApiError } from "../errors.ts";
import { toUploadError } from "../upload/index.ts";
import { ClientWait } from "./client-wait.ts";
import { eventStream, type SendEvent } from "./event-stream.ts";
import { openAiParts, readOrder, type TranscriptionOrder } from "./form.ts";
import { findLanguage } from "./languages.ts";
import { type CompatModels, modelFor } from "./models.ts";
import { invalidParam, OpenAiError, toOpenAiForm } from "./openai-error.ts";
import { PendingRecordings, type PendingServices } from "./pending-recordings.ts";
import { followText } from "./recognized-text.ts";
import {
  joinedSegments,
  renderDiarizedJson,
  renderJson,
  renderText,
  renderVerboseJson,
  type Transcript,
  toDiarizedSegment,
} from "./render.ts";

export interface TranscriptionServices extends PendingServices {
  readonly store: Store;
  readonly models: CompatModels;
  /** Aborted when the server stops: requests that wait are answered. */
  readonly stopping: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const DAY = 86_400_000;

/** A recording whose client waits, and what the client asked for. */
interface Pending {
  readonly request: Request;
  readonly wait: ClientWait;
  readonly id: string;
  readonly order: TranscriptionOrder;
}

/** Handles POST /v1/audio/transcriptions: creates a recording, waits for its transcript, and answers with it. */
export class OpenAiTranscriptions {
  readonly #services: TranscriptionServices;
  readonly #pending: PendingRecordings;

  constructor(services: TranscriptionServices) {
    this.#services = services;
    this.#pending = new PendingRecordings(services);
  }

  /** @throws {ApiError} for a recording that is refused, or that has failed before its answer has begun */
  async transcribe(request: Request): Promise<Response> {
    requireForm(request);
    const { stopping, compat } = this.#services;
    const wait = new ClientWait(request, { stopping, maxSeconds: compat().max_wait_seconds });
    let isStream = false;
    try {
      const { id, order } = await this.#create(request, wait);
      const pending = { request, wait, id, order };
      isStream = order.isStream;
      return isStream ? this.#stream(pending) : await this.#answer(pending);
    } finally {
      if (!isStream) wait[Symbol.dispose]();
    }
  }

  /** Receives the form, and creates the recording when the account has a place for it. */
  async #create(request: Request, wait: ClientWait): Promise<Pick<Pending, "id" | "order">> {
    const { intake } = this.#services;
    const sender = senderOf(request, this.#services);
    using transfer = intake.open(request, sender.account);
    using turn = intake.limits.enqueue(request, sender.account);
    const upload = await transfer.receive(openAiParts);
    if (!upload.ok) throw uploadError(upload.failure, transfer.maxFileBytes);
    await using received = upload;
    wait.signal.throwIfAborted();
    const order = readOrder(received);
    if (received.file === null) throw invalidParam("file", "Send a recording.");
    const source = { type: "file" as const, file: received.file };
    const submission = { ...this.#submissionOf(order), source };
    await intake.examine(source, sender.account);
    const place = await turn.place(wait.signal);
    const { id } = intake.enter({ request, sender, place }, submission);
    return { id, order };
  }

  #submissionOf({ model: name, language: sent, prompt }: TranscriptionOrder) {
    const { models, compat } = this.#services;
    const model = modelFor(models, name);
    const language = sent === null ? null : findLanguage(model.languages, sent);
    if (language === undefined) throw invalidParam("language", "The model does not know this language.");
    return {
      pinnedLanguage: language?.code ?? null,
      hints: { prompt, minSpeakers: null, maxSpeakers: null },
      speechModel: model.id,
      isTransient: !compat().keep,
    };
  }

  async #answer({ request, wait, id, order }: Pending): Promise<Response> {
    const recording = await this.#ended(id, wait);
    const response = await this.#render(request, recording, order);
    await this.#pending.answered(id, wait);
    return response;
  }

  /** Returns a recording that has ended with a transcript, which may be empty. @throws {ApiError} if it has none */
  async #ended(id: string, wait: ClientWait): Promise<Recording> {
    const recording = await this.#pending.untilEnded(id, wait);
    const error = failureOf(recording, this.#services.now());
    if (recording !== null && error === null) return recording;
    await this.#pending.answered(id, wait);
    throw error;
  }

  async #render(request: Request, recording: Recording, order: TranscriptionOrder): Promise<Response> {
    const transcript = this.#transcriptOf(recording);
    switch (order.format) {
      case "json":
        return json(await renderJson(transcript, order.hasLogprobs));
      case "verbose_json":
        return json(await renderVerboseJson(transcript, order.hasWords));
      case "diarized_json":
        return json(await renderDiarizedJson(transcript));
      case "text":
        return text(`${await renderText(transcript)}\n`, "text/plain");
      case "srt":
      case "vtt": {
        const { exports } = this.#services;
        const content = await exports.text(
          { owner: recording.accountId, recording, format: order.format },
          request.signal,
        );
        return text(content, order.format === "vtt" ? "text/vtt" : "text/plain");
      }
    }
  }

  #transcriptOf(recording: Recording): Transcript {
    return {
      durationSeconds: recording.durationSeconds ?? 0,
      language: recording.language,
      segments: allSegmentsWithWords(this.#services.store, recording.id),
    };
  }

  #stream(pending: Pending): Response {
    const { request, wait } = pending;
    const { log } = this.#services;
    const run = async (send: SendEvent) => {
      using _ended = wait;
      try {
        await this.#sendEvents(pending, send);
      } catch (error) {
        send({ type: "error", ...toOpenAiForm(toApiError(error, "UNKNOWN", log, request)) });
      }
    };
    return eventStream({ run, onDisconnect: () => wait.disconnected() });
  }

  async #sendEvents({ wait, id, order }: Pending, send: SendEvent): Promise<void> {
    const sendDelta = (delta: string) => send({ type: "transcript.text.delta", delta });
    const endDeltas = followText(this.#services.events, id, sendDelta);
    let recording: Recording;
    let hasDeltas = false;
    try {
      recording = await this.#ended(id, wait);
    } finally {
      hasDeltas = endDeltas();
    }
    const texts: string[] = [];
    for await (const { segment, text } of joinedSegments(this.#transcriptOf(recording).segments)) {
      texts.push(text);
      if (!hasDeltas) sendDelta(text);
      if (order.format === "diarized_json") send(toDiarizedSegment(segment));
    }
    await this.#pending.answered(id, wait);
    send({ type: "transcript.text.done", text: texts.join("") });
  }
}

/** @throws {OpenAiError} 415 if the body is no form */
function requireForm(request: Request): void {
  const contentType = request.headers.get("content-type") ?? "";
  if (/^multipart\/form-data\s*(;|$)/i.test(contentType)) return;
  throw new OpenAiError("bad_request", "Send the recording as multipart/form-data, in the part file.", {
    status: 415,
    code: "unsupported_content_type",
  });
}

function uploadError(failure: Parameters<typeof toUploadError>[0], maxFileBytes: number): ApiError {
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
    default:
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

function json(body: string): Response {
  return new Response(body, { headers: { "Content-Type": "application/json" } });
}

/** Some clients read a text without a charset as Latin-1. */
function text(body: string, mediaType: string): Response {
  return new Response(body, { headers: { "Content-Type": `${mediaType}; charset=utf-8` } });
}
