import type { LiveEvent, LiveSegment } from "../../../live/index.ts";
import { speakerLabel } from "../../../transcripts/index.ts";
import { ItemTranscript } from "./item-transcript.ts";
import type { SessionSettings } from "./session-settings.ts";

/** How events are named: OpenAI has renamed some. */
export type EventNames = "current" | "older";

/** An event for the client, without its id. */
export interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface ItemOptions {
  readonly send: (event: ServerEvent) => void;
  readonly settings: () => SessionSettings;
  readonly names: () => EventNames;
}

type ItemEvent = Exclude<LiveEvent, { readonly type: "cleared" | "unconfirmed" | "ended" }>;

const transcription = "conversation.item.input_audio_transcription";
/** Segments whose speakers are not known yet. Further ones push out the oldest. */
const MAX_UNKNOWN = 1000;

/** Reports the turns of a live session as items of a conversation, whose texts only grow. */
export class ItemEvents {
  readonly #options: ItemOptions;
  /** Transcripts of turns that are not complete. */
  readonly #transcripts = new Map<string, ItemTranscript>();
  /** Segments that wait for their speakers, with their turns. */
  readonly #unknown = new Map<number, { readonly turn: string; readonly segment: LiveSegment }>();

  constructor(options: ItemOptions) {
    this.#options = options;
  }

  report(event: ItemEvent): void {
    switch (event.type) {
      case "speechStarted":
        this.#send("input_audio_buffer.speech_started", event.turn, { audio_start_ms: milliseconds(event.seconds) });
        break;
      case "speechStopped":
        this.#send("input_audio_buffer.speech_stopped", event.turn, { audio_end_ms: milliseconds(event.seconds) });
        break;
      case "committed":
        this.#commit(event.turn, event.previous);
        break;
      case "final":
        this.#add(event.turn, event.segment);
        break;
      case "turnCompleted":
        this.#complete(event);
        break;
      case "turnFailed":
        this.#transcripts.delete(event.turn);
        this.#send(`${transcription}.failed`, event.turn, {
          content_index: 0,
          error: {
            type: "server_error",
            code: "transcription_failed",
            message: "The turn could not be recognized.",
            param: null,
          },
        });
        break;
      case "speakers":
        for (const { segment, speaker } of event.speakers) this.#nameSpeaker(segment, speaker);
        break;
      // Clients append each part, so words that may change are not for them.
      case "partial":
        break;
    }
  }

  #commit(turn: string, previous: string | null): void {
    const { send, names } = this.#options;
    const order = { previous_item_id: previous === null ? null : itemId(previous) };
    this.#send("input_audio_buffer.committed", turn, order);
    const item = {
      ...{ id: itemId(turn), object: "realtime.item", type: "message", status: "completed", role: "user" },
      content: [{ type: "input_audio", transcript: null }],
    };
    const types = names() === "current" ? ["added", "done"] : ["created"];
    for (const type of types) send({ type: `conversation.item.${type}`, ...order, item });
  }

  #add(turn: string, segment: LiveSegment): void {
    const transcript = this.#transcripts.get(turn) ?? new ItemTranscript();
    this.#transcripts.set(turn, transcript);
    this.#sendDelta(turn, transcript.add(segment));
    if (!this.#options.settings().hasSpeakers) return;
    if (segment.speaker !== null) {
      this.#sendSegment(turn, segment, segment.speaker);
      return;
    }
    this.#unknown.set(segment.number, { turn, segment });
    const [oldest] = this.#unknown.keys();
    if (this.#unknown.size > MAX_UNKNOWN && oldest !== undefined) this.#unknown.delete(oldest);
  }

  #complete({ turn, text, seconds, language }: Extract<LiveEvent, { type: "turnCompleted" }>): void {
    const settings = this.#options.settings();
    const transcript = this.#transcripts.get(turn) ?? new ItemTranscript();
    this.#transcripts.delete(turn);
    this.#sendDelta(turn, transcript.complete(text));
    this.#send(`${transcription}.completed`, turn, {
      content_index: 0,
      transcript: transcript.text,
      usage: { type: "duration", seconds: Math.round(seconds * 1000) / 1000 },
      ...(settings.hasLogprobs ? { logprobs: transcript.logprobs } : {}),
      ...(settings.hasLanguages ? { languages: language === null ? [] : [{ code: language }] } : {}),
    });
  }

  #sendDelta(turn: string, { delta, logprobs }: ReturnType<ItemTranscript["add"]>): void {
    if (delta === "") return;
    const more = this.#options.settings().hasLogprobs ? { logprobs } : {};
    this.#send(`${transcription}.delta`, turn, { content_index: 0, delta, ...more });
  }

  #nameSpeaker(number: number, speaker: string): void {
    const found = this.#unknown.get(number);
    if (found === undefined) return;
    this.#unknown.delete(number);
    this.#sendSegment(found.turn, found.segment, speaker);
  }

  #sendSegment(turn: string, segment: LiveSegment, speaker: string): void {
    const { number, text, startSeconds, endSeconds } = segment;
    this.#send(`${transcription}.segment`, turn, {
      ...{ content_index: 0, id: `seg_${number}`, text: text.toWellFormed().trim() },
      // Labels of live speakers count from S1.
      speaker: speakerLabel(Number(speaker.slice(1)) - 1),
      ...{ start: startSeconds, end: endSeconds },
    });
  }

  #send(type: string, turn: string, fields: object): void {
    this.#options.send(Object.assign({ type, item_id: itemId(turn) }, fields));
  }
}

function itemId(turn: string): string {
  return `item_${turn}`;
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
