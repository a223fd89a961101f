import { createHash } from "node:crypto";
import type { FileStatus, FileSystem, Owner } from "./file-calls.ts";

/** Length of the parts in which a file is read. */
export const PIECE_BYTES = 1 << 20;

/** An open file or directory of a watched folder. */
export class OpenFile implements AsyncDisposable {
  readonly #files: FileSystem;
  readonly #descriptor: number;

  constructor(files: FileSystem, descriptor: number) {
    this.#files = files;
    this.#descriptor = descriptor;
  }

  describe(): Promise<FileStatus> {
    return this.#files.call("describeOpen", this.#descriptor);
  }

  /** Reads a part of the file; shorter only at its end. */
  async read(position: number, length: number): Promise<Buffer> {
    const bytes = await this.#files.call("read", this.#descriptor, position, length);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Returns the SHA-256 of the file, hex. */
  async digest(): Promise<string> {
    const hash = createHash("sha256");
    for (let position = 0; ; ) {
      const piece = await this.read(position, PIECE_BYTES);
      if (piece.length === 0) return hash.digest("hex");
      hash.update(piece);
      position += piece.length;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#files.call("write", this.#descriptor, bytes);
  }

  async chmod(mode: number): Promise<void> {
    await this.#files.call("chmod", this.#descriptor, mode);
  }

  async sync(): Promise<void> {
    await this.#files.call("sync", this.#descriptor);
  }

  /** Gives it the owner and the group, as far as this process may: at least the group, or nothing. */
  async giveTo({ userId, groupId }: Owner): Promise<void> {
    const own = process.geteuid?.() ?? userId;
    await this.#files
      .call("chown", this.#descriptor, userId, groupId)
      .catch(() => this.#files.call("chown", this.#descriptor, own, groupId))
      .catch(() => {});
  }

  /** Closes it. Never throws: after the exit of its process it is closed. */
  async close(): Promise<void> {
    await this.#files.call("close", this.#descriptor).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
