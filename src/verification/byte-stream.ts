/** A file is not in the format that its first bytes announce, or exceeds a limit. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

/** Bytes that arrive in pieces of any size. They are read in order, and each of them once. */
export class ByteStream {
  readonly #pieces: AsyncIterator<Buffer>;
  /** Bytes that have arrived and are not read yet. */
  #arrived: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Returns the next bytes without reading them; fewer than `count` only at the end. */
  async peek(count: number): Promise<Buffer> {
    while (this.#arrived.length < count) {
      const next = await this.#pieces.next();
      if (next.done === true) break;
      this.#arrived = this.#arrived.length === 0 ? next.value : Buffer.concat([this.#arrived, next.value]);
    }
    return this.#arrived.subarray(0, count);
  }

  /**
   * Reads exactly `count` bytes.
   * @throws {FormatError} when there are fewer
   */
  async take(count: number): Promise<Buffer> {
    const bytes = await this.peek(count);
    if (bytes.length < count) throw new FormatError("it was cut off");
    this.#arrived = this.#arrived.subarray(count);
    return bytes;
  }

  /**
   * Reads exactly `count` bytes, or all, in the pieces that arrive.
   * @throws {FormatError} when there are fewer
   */
  async *pieces(count = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer, undefined> {
    let missing = count;
    while (missing > 0 && (await this.peek(1)).length > 0) {
      const piece = this.#arrived.subarray(0, missing);
      this.#arrived = this.#arrived.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
    if (missing > 0 && Number.isFinite(missing)) throw new FormatError("it was cut off");
  }

  /**
   * Reads exactly `count` bytes, or all, and drops them.
   * @throws {FormatError} when there are fewer
   */
  async skip(count?: number): Promise<void> {
    const pieces = this.pieces(count);
    for (let next = await pieces.next(); next.done !== true; ) next = await pieces.next();
  }
}
