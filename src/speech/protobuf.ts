/** Writer for a protocol buffers message, field by field: https://protobuf.dev/programming-guides/encoding/. */
export class Message {
  readonly #bytes: number[] = [];
  readonly #parts: Uint8Array[] = [];

  /** Writes an integer from 0 to 2^53, or a boolean as 0 or 1. */
  number(field: number, value: number): this {
    this.#tag(field, 0);
    this.#varint(value);
    return this;
  }

  float(field: number, value: number): this {
    this.#tag(field, 5);
    this.#bytes.push(...new Uint8Array(new Float32Array([value]).buffer));
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, value: Message): this {
    return this.bytes(field, value.finish());
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, 2);
    this.#varint(value.length);
    this.#flush();
    this.#parts.push(value);
    return this;
  }

  finish(): Uint8Array {
    this.#flush();
    return new Uint8Array(Bun.concatArrayBuffers(this.#parts));
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes.push((rest % 0x80) + 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes.push(rest);
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    this.#parts.push(Uint8Array.from(this.#bytes));
    this.#bytes.length = 0;
  }
}

/** A field of a protocol buffers message. */
export interface Field {
  readonly number: number;
  /** Value of an integer (varint) field; otherwise null, also for fixed-width fields. */
  readonly value: number | null;
  /** Bytes of a string, message, list or fixed-width field; empty for integers. */
  readonly bytes: Uint8Array;
  /** The encoded field, including its tag. */
  readonly whole: Uint8Array;
}

/** Sizes of the fixed-width wire types: https://protobuf.dev/programming-guides/encoding/. */
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const endlessError = () => new RangeError("the file is truncated or not a protocol buffers message");

/** Yields the fields of a message in order; their bytes are views. @throws {RangeError} if it is not a message */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  const reader = new Reader(message);
  while (!reader.isAtEnd) {
    const start = reader.at;
    const tag = reader.varint();
    const [number, wireType] = [Math.floor(tag / 8), tag % 8];
    const value = wireType === 0 ? reader.varint() : null;
    const length = wireType === 2 ? reader.varint() : wireType === 0 ? 0 : fixedBytes[wireType];
    if (length === undefined) throw endlessError();
    const bytes = reader.take(length);
    yield { number, value, bytes, whole: message.subarray(start, reader.at) };
  }
}

export function textOf({ bytes }: Field): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

class Reader {
  at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  /** Reads a varint. Negative numbers, which take ten bytes, are returned modulo 2^64, rounded. */
  varint(): number {
    let value = 0;
    for (let place = 1; ; place *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw endlessError();
      value += (byte % 128) * place;
      if (byte < 128) return value;
    }
  }

  take(length: number): Uint8Array {
    const from = this.at;
    this.at += length;
    if (this.at > this.bytes.length) throw endlessError();
    return this.bytes.subarray(from, this.at);
  }
}
