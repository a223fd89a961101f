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
