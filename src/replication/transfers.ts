import type { BigIntStats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { codeOf } from "../text/index.ts";
import type { Channel } from "./channel.ts";
import { contentHead, type FileEntry, kinds, PIECE_BYTES, type ServerMessage } from "./messages.ts";
import { SendingWindow } from "./sending-window.ts";

/** Start of a file that may be written again at the end, such as a header with the length. */
const START_BYTES = 4096;

/** A file that is being sent in pieces. */
export interface Transfer {
  readonly number: number;
  readonly file: FileHandle;
  /** Position up to which the content was sent. */
  at: number;
  /** Start of the content as it was sent. */
  start: Buffer;
}

/** The file on a disk, which keeps its identity under another name, for as long as it is open. */
export function identityOf({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string {
  return `${dev}:${ino}`;
}

/** The files that are being sent on a connection, several at the same time. */
export class Transfers {
  readonly window = new SendingWindow(() => performance.now());
  readonly #channel: Channel<ServerMessage>;
  readonly #open = new Set<Transfer>();
  #numbers = 0;
  #isClosed = false;

  constructor(channel: Channel<ServerMessage>) {
    this.#channel = channel;
  }

  /** Opens a file. @returns null if it is gone */
  async open(path: string): Promise<Transfer | null> {
    try {
      const file = await open(path, "r");
      const transfer = { number: ++this.#numbers, file, at: 0, start: Buffer.alloc(0) };
      this.#open.add(transfer);
      if (this.#isClosed) this.close();
      return this.#isClosed ? null : transfer;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** Announces a file. @param appendTo path of a file of which the standby has the first `from` bytes */
  async begin(transfer: Transfer, appendTo: string | null = null, from = 0): Promise<void> {
    transfer.at = from;
    await this.#channel.send({ type: "file", number: transfer.number, appendTo, from });
  }

  /** Sends the next piece. @returns false if the file is shorter than `bytes` */
  async sendPiece(transfer: Transfer, bytes: number): Promise<boolean> {
    const { at } = transfer;
    const wanted = Math.min(PIECE_BYTES, bytes - at);
    const piece = await read(transfer.file, at, wanted);
    if (at === 0) transfer.start = Buffer.from(piece.subarray(0, START_BYTES));
    transfer.at += piece.length;
    await this.#send(transfer.number, at, piece);
    return piece.length === wanted;
  }

  /** Gives a file its name there, once the content up to its size was sent. */
  async complete(transfer: Transfer, entry: FileEntry): Promise<void> {
    const start = await read(transfer.file, 0, transfer.start.length);
    if (!start.equals(transfer.start)) await this.#send(transfer.number, 0, start);
    await this.#end(transfer, entry);
  }

  /** Drops a file that was announced. */
  async drop(transfer: Transfer): Promise<void> {
    await this.#end(transfer, null);
  }

  /** Closes a file that was not announced. */
  forget(transfer: Transfer): void {
    if (this.#open.delete(transfer)) void transfer.file.close().catch(() => {});
  }

  /** Closes all files, and those that are opened later. */
  close(): void {
    this.#isClosed = true;
    for (const transfer of this.#open) this.forget(transfer);
  }

  async #end(transfer: Transfer, entry: FileEntry | null): Promise<void> {
    this.forget(transfer);
    await this.#channel.send({ type: "fileEnd", number: transfer.number, entry });
  }

  async #send(number: number, position: number, bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    this.window.sent(bytes.length);
    await this.#channel.sendBytes(kinds.content, contentHead(number, position), bytes);
  }
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead);
}
