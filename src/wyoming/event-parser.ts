import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { WyomingError } from "./wyoming-error.ts";

/** An event as its header and its data describe it. */
export interface WyomingEvent {
  readonly type: string;
  /** The header's data with the separate data merged over it. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A part of what a client sends: an event, or a fragment of the payload of the event before it. */
export type Part =
  | { readonly kind: "event"; readonly event: WyomingEvent }
  | { readonly kind: "payload"; readonly bytes: Uint8Array };

/** Length of a header. Older clients put all data of an event into it. */
export const MAX_HEADER_BYTES = 64 * 1024;
/** Length of the separate data. Home Assistant may send the names of all its devices as terms. */
export const MAX_DATA_BYTES = 256 * 1024;
/** Length of a payload, which is never stored as a whole: some clients send a recording in one event. */
export const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

const NEWLINE = 0x0a;
const object = Type.Record(Type.String(), Type.Unknown());
const orNull = <T extends Parameters<typeof Type.Optional>[0]>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()]));
const length = orNull(Type.Integer({ minimum: 0 }));
const headerSchema = Type.Object({
  type: Type.String({ minLength: 1, maxLength: 100 }),
  data: orNull(object),
  data_length: length,
  payload_length: length,
});

type Header = Static<typeof headerSchema>;
type State =
  | { readonly kind: "header" }
  | { readonly kind: "data"; readonly header: Header; readonly dataBytes: number }
  | { readonly kind: "payload"; restBytes: number };

/**
 * Parses the bytes of a connection: each event has a header, which is a line of JSON, and by the header's lengths JSON
 * data and a binary payload. Memory is bounded: headers and data by their maximum lengths, and payloads are passed on
 * as they arrive. After an error nothing more can be parsed.
 */
export class EventParser {
  #state: State = { kind: "header" };
  /** The beginning of a header or of data, copied: many small packets must not hold more memory than their bytes. */
  #held = Buffer.alloc(0);
  #heldBytes = 0;

  /** Whether the last event is complete, and nothing of the next one has arrived. */
  get isBetweenEvents(): boolean {
    return this.#state.kind === "header" && this.#heldBytes === 0;
  }

  /**
   * Parses the next bytes. All parts must be taken before the next call.
   * @throws {WyomingError} `malformed`, `too_large`
   */
  *push(bytes: Uint8Array): Generator<Part> {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#state.kind === "payload") {
        const fragment = rest.subarray(0, this.#state.restBytes);
        this.#state.restBytes -= fragment.length;
        if (this.#state.restBytes === 0) this.#state = { kind: "header" };
        rest = rest.subarray(fragment.length);
        yield { kind: "payload", bytes: fragment };
        continue;
      }
      const taken = this.#state.kind === "header" ? this.#takeHeader(rest) : this.#takeData(rest, this.#state);
      rest = rest.subarray(taken.bytes);
      if (taken.event !== null) yield { kind: "event", event: taken.event };
    }
  }

  #takeHeader(bytes: Uint8Array): { readonly bytes: number; readonly event: WyomingEvent | null } {
    const end = bytes.indexOf(NEWLINE);
    const line = end === -1 ? bytes : bytes.subarray(0, end);
    if (this.#heldBytes + line.length > MAX_HEADER_BYTES) throw tooLarge("A header", MAX_HEADER_BYTES);
    this.#hold(line);
    if (end === -1) return { bytes: bytes.length, event: null };
    const header = parseJson(this.#release());
    if (!Value.Check(headerSchema, header)) throw new WyomingError("malformed", "A header is not valid.");
    const dataBytes = header.data_length ?? 0;
    if (dataBytes > MAX_DATA_BYTES) throw tooLarge("The data of an event", MAX_DATA_BYTES);
    if ((header.payload_length ?? 0) > MAX_PAYLOAD_BYTES) throw tooLarge("A payload", MAX_PAYLOAD_BYTES);
    if (dataBytes > 0) {
      this.#state = { kind: "data", header, dataBytes };
      return { bytes: end + 1, event: null };
    }
    return { bytes: end + 1, event: this.#complete(header, {}) };
  }

  #takeData(bytes: Uint8Array, { header, dataBytes }: Extract<State, { kind: "data" }>) {
    const fragment = bytes.subarray(0, dataBytes - this.#heldBytes);
    this.#hold(fragment);
    if (this.#heldBytes < dataBytes) return { bytes: fragment.length, event: null };
    const data = parseJson(this.#release());
    if (!Value.Check(object, data)) throw new WyomingError("malformed", "The data of an event is no object.");
    return { bytes: fragment.length, event: this.#complete(header, data) };
  }

  #complete({ type, data, payload_length: payloadBytes }: Header, separate: Record<string, unknown>): WyomingEvent {
    const restBytes = payloadBytes ?? 0;
    this.#state = restBytes > 0 ? { kind: "payload", restBytes } : { kind: "header" };
    return { type, data: { ...data, ...separate } };
  }

  #hold(bytes: Uint8Array): void {
    const needed = this.#heldBytes + bytes.length;
    if (needed > this.#held.length) {
      const larger = Buffer.alloc(Math.max(1024, 2 * needed));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    this.#held.set(bytes, this.#heldBytes);
    this.#heldBytes = needed;
  }

  #release(): Buffer {
    const held = this.#held.subarray(0, this.#heldBytes);
    this.#held = Buffer.alloc(0);
    this.#heldBytes = 0;
    return held;
  }
}

function tooLarge(subject: string, maxBytes: number): WyomingError {
  return new WyomingError("too_large", `${subject} is longer than ${maxBytes} bytes.`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws {WyomingError} `malformed` */
function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new WyomingError("malformed", "The JSON of an event can't be parsed.");
  }
}
