import type { LiveSessions } from "../live/index.ts";
import type { WyomingMetrics } from "../telemetry/index.ts";
import { type AccountOptions, accountSender } from "./account-sender.ts";
import type { WyomingEvent } from "./event-parser.ts";
import { infoOf, type Send, sendTranscript } from "./outgoing-events.ts";
import { isSameFormat, readFormat, type SoundFormat } from "./sound.ts";
import { defaultRequest, type OfferedModel, readTranscribe } from "./transcribe-request.ts";
import { Utterance } from "./utterance.ts";
import { WyomingError } from "./wyoming-error.ts";

export interface ConversationServices extends AccountOptions {
  readonly live: Pick<LiveSessions, "open">;
  /** Returns the speech model of new sessions. */
  readonly model: () => OfferedModel;
  readonly metrics: Pick<WyomingMetrics, "utterance">;
}

interface Client {
  readonly send: Send;
  /** Waits a moment, while a session has as much sound as it may. */
  readonly pause: () => Promise<void>;
  /** Called when an utterance failed while nothing was being handled. */
  readonly onError: (error: WyomingError) => void;
}

/** The events of a client and their answers, without the limits of its connection. */
export class Conversation {
  readonly #services: ConversationServices;
  readonly #client: Client;
  /** The wishes for the next utterance. */
  #request = defaultRequest;
  /** Format of an utterance that has no sound yet. */
  #announced: SoundFormat | null = null;
  #utterance: Utterance | null = null;
  /** Format of the payload that arrives; null for payloads of events without sound, which are skipped. */
  #payload: SoundFormat | null = null;

  constructor(services: ConversationServices, client: Client) {
    this.#services = services;
    this.#client = client;
  }

  /** Whether the client is sending the sound of an utterance. */
  get isListening(): boolean {
    return this.#announced !== null || this.#utterance !== null;
  }

  /**
   * Handles an event. Events that are not known are ignored, as the protocol demands.
   * @throws {WyomingError} @throws {LiveError} @throws {IntakeError}
   */
  async take(event: WyomingEvent): Promise<void> {
    this.#payload = null;
    switch (event.type) {
      case "describe":
        this.#client.send("info", infoOf(this.#services.model()));
        return;
      case "ping":
        this.#client.send("pong", typeof event.data.text === "string" ? { text: event.data.text } : {});
        return;
      case "transcribe":
        this.#request = readTranscribe(event, this.#services.model());
        return;
      case "audio-start":
        this.abandon("abandoned");
        this.#announced = readFormat(event);
        return;
      case "audio-chunk":
        this.#payload = this.#formatOf(event);
        return;
      case "audio-stop":
        await this.#finish();
        return;
    }
  }

  /**
   * Takes a fragment of the last event's payload.
   * @returns the duration of its sound in seconds
   * @throws {LiveError} @throws {IntakeError} when the server can't take it
   */
  async takePayload(bytes: Uint8Array): Promise<number> {
    if (this.#payload === null) return 0;
    // Opened by the first sound, because a session counts towards limits.
    this.#utterance ??= this.#open(this.#payload);
    return await this.#utterance.write(bytes, this.#client.pause);
  }

  /** Ends an utterance without a transcript. @param outcome `failed` unless the client does not wait for it */
  abandon(outcome: "abandoned" | "failed"): void {
    this.#announced = null;
    if (this.#utterance === null) return;
    this.#utterance.abandon();
    this.#end(outcome);
  }

  #formatOf(chunk: WyomingEvent): SoundFormat {
    const known = this.#utterance?.format ?? this.#announced;
    const { rate, width, channels } = chunk.data;
    if (known !== null && rate === undefined && width === undefined && channels === undefined) return known;
    const format = readFormat(chunk);
    if (known === null || isSameFormat(known, format)) return format;
    throw new WyomingError("bad_request", "The format of the sound must not change within an utterance.");
  }

  #open(format: SoundFormat): Utterance {
    const { live } = this.#services;
    const request = this.#request;
    this.#request = defaultRequest;
    try {
      return new Utterance({
        request,
        format,
        open: (options, listener) => live.open(accountSender(this.#services), options, listener),
        send: this.#client.send,
        onError: (error) => {
          this.#end("failed");
          this.#client.onError(error);
        },
      });
    } catch (error) {
      this.#end("failed");
      throw error;
    }
  }

  async #finish(): Promise<void> {
    const utterance = this.#utterance;
    this.#announced = null;
    if (utterance === null) {
      this.#client.send("transcript-start", {});
      sendTranscript(this.#client.send, "", null, this.#request);
      this.#request = defaultRequest;
      return;
    }
    await utterance.finish();
    if (this.#utterance === utterance) this.#end("completed");
  }

  #end(outcome: Parameters<WyomingMetrics["utterance"]>[0]): void {
    this.#announced = null;
    this.#utterance = null;
    this.#services.metrics.utterance(outcome);
  }
}
