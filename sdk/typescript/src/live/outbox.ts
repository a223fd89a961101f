import type { LiveEncoding } from "./messages.ts";

const SAMPLE_BYTES: Readonly<Record<LiveEncoding, number>> = { pcm16: 2, float32: 4, mulaw: 1, alaw: 1 };
/** Maximum size of a frame. */
const FRAME_BYTES = 64 * 1024;
/** Sound that may wait to be sent: that of two minutes without a connection, and of the time until the loss is noticed. */
const UNSENT_SECONDS = 150;
/** Sound that is kept after it was sent: at least this size, more than the buffers of both machines hold. */
const SENT_BYTES = 8 * 1024 * 1024;
const SENT_SECONDS = 60;

/** A frame to send. Positions are bytes of sound from the start of the session. */
interface Entry {
  readonly data: string | Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
}

/**
 * What a session sends: sound and messages in their order. Both are kept after they were sent, because a lost
 * connection may have lost them; the oldest are dropped.
 */
export class Outbox {
  readonly #sampleBytes: number;
  readonly #bytesPerSecond: number;
  readonly #entries: Entry[] = [];
  /** Number of entries that were sent. */
  #sent = 0;
  /** End of the sound. */
  #end = 0;
  /** The first bytes of a sample whose rest has not arrived. */
  #rest = new Uint8Array(0);

  constructor(encoding: LiveEncoding, sampleRate: number) {
    this.#sampleBytes = SAMPLE_BYTES[encoding];
    this.#bytesPerSecond = sampleRate * this.#sampleBytes;
  }

  /** Whether no more sound should be added until some of it was sent. */
  get isFull(): boolean {
    return this.#end - this.#sentEnd > UNSENT_SECONDS * this.#bytesPerSecond;
  }

  get isEmpty(): boolean {
    return this.#sent === this.#entries.length;
  }

  /** Adds sound, which is copied. Incomplete samples wait for their rest. */
  addSound(sound: Uint8Array): void {
    const bytes = new Uint8Array(this.#rest.length + sound.length);
    bytes.set(this.#rest);
    bytes.set(sound, this.#rest.length);
    const whole = bytes.length - (bytes.length % this.#sampleBytes);
    this.#rest = bytes.slice(whole);
    for (let at = 0; at < whole; at += FRAME_BYTES) {
      const data = bytes.subarray(at, Math.min(at + FRAME_BYTES, whole));
      this.#entries.push({ data, start: this.#end, end: this.#end + data.length });
      this.#end += data.length;
    }
  }

  /** Adds a message at this point of the sound. */
  addMessage(message: object): void {
    this.#entries.push({ data: JSON.stringify(message), start: this.#end, end: this.#end });
  }

  /** Returns the next frame to send; null if there is none. Waiting sound is joined: servers limit the rate of frames. */
  next(): Entry["data"] | null {
    const entry = this.#joined();
    if (entry === undefined) return null;
    this.#sent += 1;
    const kept = Math.max(SENT_BYTES, SENT_SECONDS * this.#bytesPerSecond);
    while (this.#sent > 1 && this.#sentEnd - (this.#entries[0]?.end ?? 0) > kept) {
      this.#entries.shift();
      this.#sent -= 1;
    }
    return entry.data;
  }

  /** Returns the first entry that was not sent, after the sound that follows it was joined with it. */
  #joined(): Entry | undefined {
    const first = this.#entries[this.#sent];
    if (first === undefined || typeof first.data === "string") return first;
    let count = 1;
    let size = first.data.length;
    for (; ; count++) {
      const data = this.#entries[this.#sent + count]?.data ?? "";
      if (typeof data === "string" || size + data.length > FRAME_BYTES) break;
      size += data.length;
    }
    if (count === 1) return first;
    const bytes = new Uint8Array(size);
    for (const { data, start } of this.#entries.slice(this.#sent, this.#sent + count)) {
      if (typeof data !== "string") bytes.set(data, start - first.start);
    }
    const joined = { data: bytes, start: first.start, end: first.start + size };
    this.#entries.splice(this.#sent, count, joined);
    return joined;
  }

  /**
   * Returns to the first frame that the server may lack. A message at the end of the received sound may have arrived;
   * it is sent again, because all messages may be repeated.
   * @returns false if sound that the server lacks was dropped
   */
  rewind(receivedSeconds: number): boolean {
    const received = Math.round((receivedSeconds * this.#bytesPerSecond) / this.#sampleBytes) * this.#sampleBytes;
    const isLacking = ({ start, end }: Entry) => (start === end ? start >= received : end > received);
    const index = this.#entries.findIndex(isLacking);
    this.#sent = index < 0 ? this.#entries.length : index;
    const entry = this.#entries[this.#sent];
    if (entry === undefined) return true;
    if (entry.start >= received || typeof entry.data === "string") return entry.start <= received;
    const split = received - entry.start;
    const head = { data: entry.data.subarray(0, split), start: entry.start, end: received };
    const tail = { data: entry.data.subarray(split), start: received, end: entry.end };
    this.#entries.splice(this.#sent, 1, head, tail);
    this.#sent += 1;
    return true;
  }

  /** End of the sound that was sent. */
  get #sentEnd(): number {
    return this.#entries[this.#sent - 1]?.end ?? this.#entries[0]?.start ?? this.#end;
  }
}
