import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger, WyomingMetrics } from "../telemetry/index.ts";
import { Conversation, type ConversationServices } from "./conversation.ts";
import { Deadline } from "./deadline.ts";
import { EventParser, type Part } from "./event-parser.ts";
import { encodeEvent } from "./outgoing-events.ts";
import { notTranscribed, refusalOf } from "./refusals.ts";
import { WyomingError } from "./wyoming-error.ts";

/** Time limits of a connection, in milliseconds. */
export interface TimeLimits {
  /** For the next event, outside an utterance. */
  readonly event: number;
  /** For each second of sound in an utterance: a source that is so far behind is no microphone. */
  readonly sound: number;
  /** For the client to read the last events, and to close the connection. */
  readonly end: number;
}

export interface ConnectionServices extends ConversationServices {
  readonly times: TimeLimits;
  readonly metrics: Pick<WyomingMetrics, "utterance" | "error">;
  readonly log: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

/** Bytes that a client may leave unread. */
const MAX_UNREAD_BYTES = 512 * 1024;
/** Events with sound that are handled in a second; later ones wait. A microphone sends about 100. */
const MAX_EVENTS_PER_SECOND = 1000;
/** Number of events with sound for which another event counts, whose answer may be long. */
const OTHER_EVENT_WEIGHT = 20;
/** Pause until a session that has enough sound is asked again. */
const PAUSE_MILLISECONDS = 50;

/**
 * A connection of a client, and its limits. Events are handled one after the other. While a transcript is awaited, or a
 * session has enough sound, nothing is read, so TCP slows the client down.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #services: ConnectionServices;
  readonly #parser = new EventParser();
  readonly #conversation: Conversation;
  readonly #deadline = new Deadline(() => this.#timeOut());
  /** Seconds of sound since the time limit was set. */
  #seconds = 0;
  /** Whether a part is being handled: a delay is then not the client's. */
  #isHandling = false;
  /** Whether the last event was sent. What still arrives is discarded. */
  #isEnding = false;
  /** The current second, and the weight of the events in it. */
  #second = { startedAt: 0, events: 0 };

  constructor(socket: Socket, services: ConnectionServices) {
    this.#socket = socket;
    this.#services = services;
    this.#conversation = new Conversation(services, {
      send: (type, data) => this.#send(type, data),
      pause: () => sleep(PAUSE_MILLISECONDS),
      onError: (error) => this.#fail(error),
    });
  }

  /** Serves the client until it or the server ends the connection. */
  async serve(): Promise<void> {
    const socket = this.#socket;
    socket.on("close", () => {
      this.#isEnding = true;
      this.#deadline.clear();
      this.#conversation.abandon("abandoned");
    });
    this.#deadline.set(this.#services.times.event);
    try {
      for await (const bytes of socket.iterator({ destroyOnReturn: false })) await this.#receive(bytes);
    } catch {
      // The connection is broken, and closed.
      return;
    }
    this.#conversation.abandon("abandoned");
    this.#end();
  }

  /** Ends the connection, because the server stops. */
  stop(): void {
    this.#fail(new WyomingError("unavailable", "The server is stopping."));
  }

  async #receive(bytes: Uint8Array): Promise<void> {
    if (this.#isEnding) return;
    this.#isHandling = true;
    try {
      for (const part of this.#parser.push(bytes)) {
        await this.#take(part);
        if (this.#isEnding) return;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isHandling = false;
    }
  }

  async #take(part: Part): Promise<void> {
    const conversation = this.#conversation;
    const wasListening = conversation.isListening;
    if (part.kind === "event") {
      await this.#untilAllowed(part.event.type === "audio-chunk" ? 1 : OTHER_EVENT_WEIGHT);
      await conversation.take(part.event);
    } else {
      this.#seconds += await conversation.takePayload(part.bytes);
    }
    // Bytes that are no complete event, or not enough sound, do not extend the time.
    const isProgress = conversation.isListening ? !wasListening || this.#seconds >= 1 : part.kind === "event";
    if (isProgress && !this.#isEnding) this.#extendTime();
  }

  #extendTime(): void {
    const { times } = this.#services;
    this.#seconds = 0;
    this.#deadline.set(this.#conversation.isListening ? times.sound : times.event);
  }

  /** Waits until the client may send another event. */
  async #untilAllowed(weight: number): Promise<void> {
    const now = this.#services.clock();
    const elapsed = now - this.#second.startedAt;
    if (elapsed >= 1000) this.#second = { startedAt: now, events: 0 };
    this.#second.events += weight;
    if (this.#second.events > MAX_EVENTS_PER_SECOND) await sleep(1000 - elapsed);
  }

  #timeOut(): void {
    if (this.#isEnding) this.#socket.destroy();
    else if (this.#isHandling) this.#extendTime();
    else if (this.#conversation.isListening) this.#fail(new WyomingError("timeout", "The sound arrives too slowly."));
    else this.#fail(new WyomingError("timeout", "No event arrived for too long."));
  }

  /** Sends an error as the last event. */
  #fail(error: unknown): void {
    if (this.#isEnding) return;
    const { log, metrics } = this.#services;
    const refusal = refusalOf(error);
    if (refusal === null) log.error({ event: "wyoming.unexpected_error", err: error });
    const { code, message } = refusal ?? notTranscribed();
    metrics.error(code);
    this.#conversation.abandon("failed");
    this.#send("error", { text: message, code });
    this.#end();
  }

  #send(type: string, data: Readonly<Record<string, unknown>>): void {
    if (this.#isEnding || this.#socket.destroyed) return;
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) {
      this.#services.metrics.error("slow_reader");
      this.#isEnding = true;
      this.#socket.destroy();
      return;
    }
    this.#socket.write(encodeEvent(type, data));
  }

  /** Closes the server's side. The client has some time to read what was sent. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#deadline.set(this.#services.times.end);
    this.#socket.end();
  }
}
