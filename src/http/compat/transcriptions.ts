import type { Recording } from "../../recordings/index.ts";
import { toApiError } from "../shared/error-envelope.ts";
import { type Sender, senderOf } from "../shared/intake.ts";
import type { ClientWait } from "./client-wait.ts";
import { eventStream, type SendEvent } from "./event-stream.ts";
import { openAiParts, readOrder, type TranscriptionOrder } from "./form.ts";
import { modelFor } from "./models.ts";
import { toOpenAiForm } from "./openai-error.ts";
import { followText } from "./recognized-text.ts";
import {
  joinedSegments,
  languagesOf,
  renderDiarizedJson,
  renderJson,
  renderVerboseJson,
  toDiarizedSegment,
  toLogprob,
} from "./render.ts";
import { json, languageFor, type TranscriptionServices, text, WaitingTranscripts } from "./waiting-transcripts.ts";

/** A recording whose client waits, and what the client asked for. */
interface Pending {
  readonly request: Request;
  readonly sender: Sender;
  readonly wait: ClientWait;
  readonly order: TranscriptionOrder;
  /** Resolves when its account has a place for it. Rejects with an ApiError if it is refused until then. */
  readonly created: Promise<{ readonly id: string }>;
}

/** Handles POST /v1/audio/transcriptions: creates a recording, waits for its transcript, and answers with it. */
export class OpenAiTranscriptions {
  readonly #services: TranscriptionServices;
  readonly #waiting: WaitingTranscripts;

  constructor(services: TranscriptionServices) {
    this.#services = services;
    this.#waiting = new WaitingTranscripts(services);
  }

  /** @throws {ApiError} for a recording that is refused, or that has failed before its answer has begun */
  async transcribe(request: Request): Promise<Response> {
    const sender = senderOf(request, this.#services);
    const wait = this.#waiting.begin(request, "file");
    let isStream = false;
    try {
      const accepted = Promise.withResolvers<TranscriptionOrder>();
      const created = this.#waiting.create<TranscriptionOrder>(
        request,
        wait,
        {
          sender,
          parts: openAiParts,
          read: (received) => {
            const order = readOrder(received);
            return { order, submission: this.#submissionOf(order) };
          },
        },
        { onNoPlace: accepted.resolve },
      );
      // A stream begins before there is a place, so that its comments keep the connection alive.
      const order = await Promise.race([accepted.promise, created.then((each) => each.order)]);
      const pending = { request, sender, wait, order, created };
      isStream = order.isStream;
      return isStream ? this.#stream(pending) : await this.#answer(pending);
    } finally {
      if (!isStream) wait[Symbol.dispose]();
    }
  }

  #submissionOf({ model: name, languages: sent, prompt }: TranscriptionOrder) {
    const { models, compat } = this.#services;
    const model = modelFor(models, name);
    const languages = new Set(sent.map(({ param, name: each }) => languageFor(model, each, param)));
    return {
      // Language detection can't be limited to several languages.
      pinnedLanguage: languages.size === 1 ? ([...languages][0] ?? null) : null,
      hints: { prompt, minSpeakers: null, maxSpeakers: null },
      speechModel: model.id,
      isTransient: !compat().keep,
    };
  }

  async #answer(pending: Pending): Promise<Response> {
    const { wait, created } = pending;
    const { id } = await created;
    const recording = await this.#waiting.ended(id, wait);
    const response = await this.#render(pending, recording);
    await this.#waiting.answered(id, wait);
    return response;
  }

  async #render({ request, sender, order }: Pending, recording: Recording): Promise<Response> {
    const transcript = this.#waiting.transcriptOf(sender, recording);
    const textAs = (format: "txt" | "srt" | "vtt") => this.#waiting.textOf(sender, recording, format, request.signal);
    switch (order.format) {
      case "json":
        return json(await renderJson(transcript, order));
      case "verbose_json":
        return json(await renderVerboseJson(transcript, order.hasWords));
      case "diarized_json":
        return json(await renderDiarizedJson(transcript));
      case "text":
        return text(await textAs("txt"));
      case "srt":
        return text(await textAs("srt"));
      case "vtt":
        return text(await textAs("vtt"), "text/vtt");
    }
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

  async #sendEvents({ sender, wait, order, created }: Pending, send: SendEvent): Promise<void> {
    const { id } = await created;
    const sendDelta = (delta: string) => send({ type: "transcript.text.delta", delta });
    const endDeltas = followText(this.#services.events, id, sendDelta);
    let recording: Recording;
    let hasDeltas = false;
    try {
      recording = await this.#waiting.ended(id, wait);
    } finally {
      hasDeltas = endDeltas();
    }
    const texts: string[] = [];
    const logprobs: ReturnType<typeof toLogprob>[] = [];
    for await (const { segment, text } of joinedSegments(this.#waiting.transcriptOf(sender, recording).segments)) {
      texts.push(text);
      if (!hasDeltas) sendDelta(text);
      if (order.format === "diarized_json") send(toDiarizedSegment(segment));
      if (order.hasLogprobs) logprobs.push(...segment.words.map(toLogprob));
    }
    await this.#waiting.answered(id, wait);
    send({
      ...{ type: "transcript.text.done", text: texts.join("") },
      ...(order.hasLanguages ? { languages: languagesOf(recording.language) } : {}),
      ...(order.hasLogprobs ? { logprobs } : {}),
    });
  }
}
