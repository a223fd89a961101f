import type { Recording } from "../../database/index.ts";
import type { Sender } from "../../intake/index.ts";
import type { RecordingEvents } from "../../recordings/index.ts";
import { toApiError } from "../shared/error-envelope.ts";
import { unavailable } from "../shared/errors.ts";
import { readerOf } from "../shared/request-context.ts";
import { senderOf } from "../shared/request-intake.ts";
import type { ClientWait } from "./client-wait.ts";
import { type EventSink, eventStream } from "./event-stream.ts";
import { type CompatTask, openAiParts, readOrder, type TranscriptionOrder } from "./form.ts";
import { modelFor, translatorFor } from "./models.ts";
import { toOpenAiForm } from "./openai-error.ts";
import {
  joinedSegments,
  type Parts,
  renderDiarizedJson,
  renderDone,
  renderJson,
  renderText,
  renderVerboseJson,
  toDiarizedSegment,
} from "./render.ts";
import {
  JSON_TYPE,
  languageFor,
  type TranscriptionServices,
  textType,
  WaitingTranscripts,
} from "./waiting-transcripts.ts";

/** A recording whose client waits, and what the client asked for. */
interface Pending {
  readonly request: Request;
  readonly sender: Sender;
  readonly wait: ClientWait;
  readonly order: TranscriptionOrder;
  /** Resolves when its account has a place for it. Rejects if it is refused until then. */
  readonly created: Promise<{ readonly id: string }>;
}

/**
 * Handles POST /v1/audio/transcriptions and translations: creates a recording, waits for its text, and answers with it.
 */
export class OpenAiTranscriptions {
  readonly #services: TranscriptionServices;
  readonly #waiting: WaitingTranscripts;

  constructor(services: TranscriptionServices) {
    this.#services = services;
    this.#waiting = new WaitingTranscripts(services);
  }

  /** @throws {ApiError} for a recording that is refused, or that has failed before its answer has begun */
  async transcribe(request: Request, task: CompatTask): Promise<Response> {
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
            const order = readOrder(received, task);
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

  #submissionOf({ task, model: name, languages: sent, prompt }: TranscriptionOrder) {
    const { models, compat } = this.#services;
    const isTranslated = task === "translate";
    const model = isTranslated ? translatorFor(models, name) : modelFor(models, name);
    const languages = new Set(sent.map(({ param, name: each }) => languageFor(model, each, param)));
    return {
      // Language detection can't be limited to several languages.
      pinnedLanguage: languages.size === 1 ? ([...languages][0] ?? null) : null,
      hints: { prompt, minSpeakers: null, maxSpeakers: null },
      isTranslated,
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
    const { task } = order;
    this.#services.library.reads.exported(readerOf(request, "openai"), recording, order.format);
    const transcript = this.#waiting.transcriptOf(sender, recording, task);
    const send = (parts: Parts, type = JSON_TYPE) => this.#waiting.send(request, recording, parts, type);
    switch (order.format) {
      case "json":
        return await send(renderJson(transcript, order));
      case "verbose_json":
        return await send(renderVerboseJson(transcript, order.hasWords));
      case "diarized_json":
        return await send(renderDiarizedJson(transcript));
      case "text":
        return await send(renderText(transcript, "\n"), textType());
      case "srt":
        return await this.#waiting.sendAs("srt", request, { sender, recording, task }, textType());
      case "vtt":
        return await this.#waiting.sendAs("vtt", request, { sender, recording, task }, textType("text/vtt"));
    }
  }

  #stream(pending: Pending): Response {
    const { request, wait } = pending;
    const { log } = this.#services;
    const run = async (sink: EventSink) => {
      using _ended = wait;
      try {
        await this.#sendEvents(pending, sink);
      } catch (error) {
        sink.send({ type: "error", ...toOpenAiForm(toApiError(error, "UNKNOWN", log, request)) });
      }
    };
    return eventStream({ run, onDisconnect: () => wait.disconnected() });
  }

  async #sendEvents({ request, sender, wait, order, created }: Pending, sink: EventSink): Promise<void> {
    const { id } = await created;
    const sendDelta = (delta: string) => sink.send({ type: "transcript.text.delta", delta });
    // A translation begins when the whole transcript is known, so its text is sent at the end.
    const endDeltas = order.task === "translate" ? () => false : followText(this.#services.events, id, sendDelta);
    let recording: Recording;
    let hasDeltas = false;
    try {
      recording = await this.#waiting.ended(id, wait);
    } finally {
      hasDeltas = endDeltas();
    }
    this.#services.library.reads.exported(readerOf(request, "openai"), recording, order.format);
    const transcript = this.#waiting.transcriptOf(sender, recording, order.task);
    for await (const { segment, text } of joinedSegments(transcript)) {
      if (!hasDeltas) sendDelta(text);
      if (order.format === "diarized_json") sink.send(toDiarizedSegment(segment));
      await sink.ready();
    }
    const { changes } = this.#services;
    const answered = () => this.#waiting.answered(id, wait);
    const done = async function* () {
      yield* renderDone(transcript, order);
      // Nothing is left of the recording when the client has the whole event.
      await answered();
      const reason = await changes.confirmed();
      if (reason !== null) throw unavailable(reason);
      yield "}";
    };
    await sink.sendParts(done());
  }
}

/**
 * Passes on the text of a recording in the order of time, while its chunks are recognized in any order. Nothing is
 * passed on for a recording with several tracks: they are transcribed one after the other.
 * @returns a function that ends this, and returns whether any text was passed on
 */
function followText(
  events: Pick<RecordingEvents, "onTranscribed">,
  recordingId: string,
  onText: (text: string) => void,
): () => boolean {
  const early = new Map<number, string>();
  let next = 0;
  let hasText = false;
  const stop = events.onTranscribed(recordingId, ({ tracks, part, words }) => {
    if (tracks > 1 || part < next) return;
    early.set(part, words.map(({ text }) => text).join(""));
    for (let text = early.get(next); text !== undefined; text = early.get(next)) {
      early.delete(next);
      next += 1;
      const delta = hasText ? text : text.trimStart();
      if (delta === "") continue;
      hasText = true;
      onText(delta);
    }
  });
  return () => {
    stop();
    return hasText;
  };
}
