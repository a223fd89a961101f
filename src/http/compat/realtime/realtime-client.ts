import {
  type LiveEnd,
  LiveError,
  type LiveEvent,
  type LiveListener,
  type LiveOptions,
  type LiveRefusal,
  type LiveSession,
} from "../../../live/index.ts";
import { closeCodes, type GuardedSocket, type LiveProtocol, SampleAligner } from "../../shared/live/index.ts";
import type { UsableModels } from "../../shared/usable-models.ts";
import { OpenAiError, toOpenAiForm } from "../openai-error.ts";
import { decodeAudio, readClientEvent } from "./client-event.ts";
import { type EventNames, ItemEvents, type ServerEvent } from "./item-events.ts";
import type { SessionFields } from "./session-fields.ts";
import type { SessionSettings } from "./session-settings.ts";

export interface RealtimeOptions {
  readonly names: EventNames;
  /** The settings before the first change of the client. */
  readonly settings: SessionSettings;
  readonly models: UsableModels;
  readonly open: (
    options: Pick<LiveOptions, "format" | "language" | "prompt" | "turns">,
    listener: LiveListener,
  ) => LiveSession;
}

/** The error of an event, or of a message of the client. */
interface RealtimeError {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param?: string | null;
}

/** Codes and messages for ends that are no decision of the client's. */
const endings: Readonly<Record<Exclude<LiveEnd, "client" | "disconnected">, readonly [code: string, message: string]>> =
  {
    idle: ["session_expired", "The session ended, since no sound arrived."],
    too_long: ["session_expired", "The session reached its maximum duration."],
    audio_used_up: ["insufficient_quota", "This account has no audio allowance left today."],
    access: ["invalid_api_key", "The key may no longer use this server."],
    disk_full: ["server_error", "The server has no disk space for the sound."],
    engine: ["server_error", "The recognition has failed."],
    stopping: ["server_error", "The server stops."],
  };

/** The client of a live session, by OpenAI's Realtime API for transcription. */
export class RealtimeClient implements LiveProtocol {
  readonly #socket: GuardedSocket;
  readonly #models: UsableModels;
  readonly #session: LiveSession;
  readonly #items: ItemEvents;
  #names: EventNames;
  #settings: SessionSettings;
  #aligner: SampleAligner;
  #hasEnded = false;
  #sequence = 0;

  constructor(socket: GuardedSocket, { names, settings, models, open }: RealtimeOptions) {
    this.#socket = socket;
    this.#names = names;
    this.#settings = settings;
    this.#models = models;
    this.#items = new ItemEvents({
      send: (event) => this.#send(event),
      settings: () => this.#settings,
      names: () => this.#names,
    });
    this.#session = open(settings.toOptions(models), (event) => this.#report(event));
    this.#aligner = new SampleAligner(settings.format.encoding);
    this.#sendSession("created");
  }

  binary(): void {
    this.#socket.end(closeCodes.wrongType, "Events are sent as text.");
  }

  text(text: string): void {
    const read = readClientEvent(text);
    const isSound = read.kind === "event" && read.event.type === "input_audio_buffer.append";
    if (!isSound && !this.#socket.countCommand()) return;
    if (read.kind === "refused") {
      const { code, message, param, eventId } = read;
      // A program for conversations sends such events again and again, and learns from each answer.
      if (code !== "unsupported_event" && !this.#socket.countMistake()) return;
      this.#sendError({ type: "invalid_request_error", code, message, param }, eventId);
      return;
    }
    const { event, eventId } = read;
    try {
      switch (event.type) {
        case "session.update":
        case "transcription_session.update":
          this.#names = event.type === "session.update" ? this.#names : "older";
          this.#update(event.session);
          break;
        case "input_audio_buffer.append":
          this.#append(event.audio, eventId);
          break;
        case "input_audio_buffer.commit":
          this.#session.commit();
          break;
        case "input_audio_buffer.clear":
          this.#session.clear();
          break;
      }
    } catch (error) {
      if (error instanceof OpenAiError) this.#sendError(toOpenAiForm(error).error, eventId);
      else if (error instanceof LiveError) this.#refuse(error, eventId);
      else throw error;
    }
  }

  closed(): void {
    // No client of this API resumes a session.
    if (!this.#hasEnded) this.#session.leave();
  }

  /** @throws {OpenAiError} for settings that are not valid @throws {LiveError} for those that the session refuses */
  #update(fields: SessionFields): void {
    const settings = this.#settings.with(fields, this.#models);
    const { format, ...options } = settings.toOptions(this.#models);
    const isFormatChange = JSON.stringify(format) !== JSON.stringify(this.#settings.format);
    this.#session.update(isFormatChange ? { ...options, format } : options);
    if (isFormatChange) this.#aligner = new SampleAligner(format.encoding);
    this.#settings = settings;
    this.#sendSession("updated");
  }

  #append(audio: string, eventId: string | null): void {
    const sound = decodeAudio(audio);
    if (sound === null) {
      if (!this.#socket.countMistake()) return;
      const message = "The sound is not base64.";
      this.#sendError({ type: "invalid_request_error", code: "invalid_value", message, param: "audio" }, eventId);
      return;
    }
    const samples = this.#aligner.align(sound);
    if (samples.length > 0) this.#session.write(samples);
  }

  #refuse({ refusal }: LiveError, eventId: string | null): void {
    // The session ends by itself, and reports it when its last words are recognized.
    if (refusal.kind === "unknown_session") return;
    const [code, message, param = null] = refusalText(refusal);
    this.#sendError({ type: "invalid_request_error", code, message, param }, eventId);
    // Dropped sound would leave a gap.
    if (refusal.kind === "too_fast") this.#socket.end(closeCodes.policy, message);
  }

  #report(event: LiveEvent): void {
    if (event.type === "cleared") this.#send({ type: "input_audio_buffer.cleared" });
    else if (event.type === "unconfirmed") {
      this.#sendError({ type: "server_error", code: "unconfirmed", message: event.reason }, null);
    } else if (event.type === "ended") this.#finish(event.reason);
    else this.#items.report(event);
  }

  #finish(reason: LiveEnd): void {
    this.#hasEnded = true;
    if (reason === "client" || reason === "disconnected") {
      this.#socket.end(closeCodes.ended, "The session has ended.");
      return;
    }
    const [code, message] = endings[reason];
    this.#sendError({ type: code === "server_error" ? code : "invalid_request_error", code, message }, null);
    const ofServer = reason === "stopping" ? closeCodes.goingAway : closeCodes.fault;
    this.#socket.end(code === "server_error" ? ofServer : closeCodes.policy, message);
  }

  #sendSession(change: "created" | "updated"): void {
    const { id } = this.#session;
    this.#send(
      this.#names === "current"
        ? { type: `session.${change}`, session: this.#settings.toSession(id) }
        : { type: `transcription_session.${change}`, session: this.#settings.toOlderSession(id) },
    );
  }

  #sendError(error: RealtimeError, eventId: string | null): void {
    this.#send({ type: "error", error: { param: null, ...error, event_id: eventId } });
  }

  #send(event: ServerEvent): void {
    this.#sequence += 1;
    this.#socket.send({ event_id: `event_${this.#sequence}`, ...event });
  }
}

function refusalText(refusal: LiveRefusal): readonly [code: string, message: string, param?: string] {
  switch (refusal.kind) {
    case "empty_turn":
      return ["input_audio_buffer_commit_empty", "The buffer has too little sound to commit."];
    case "too_fast":
      return ["rate_limit_exceeded", "The sound comes too fast."];
    case "bad_option":
      return ["invalid_value", refusal.reason, `session.${refusal.option}`];
    default:
      throw new LiveError(refusal);
  }
}
