import { connect, type Socket } from "node:net";

interface FrameOptions {
  /** Whether the frame ends its message; true by default. */
  readonly fin?: boolean;
  /** Whether the frame is masked, as RFC 6455 requires of clients; true by default. */
  readonly masked?: boolean;
  /** Length in the head, if it is not that of the payload. */
  readonly claimed?: bigint;
  /** Reserved bits, 0 to 7. */
  readonly reserved?: number;
}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Returns a frame (RFC 6455, 5.2). Its mask is zero, so the payload stays as it is. */
export function frame(opcode: number, payload: Uint8Array | string = "", options: FrameOptions = {}): Buffer {
  const { fin = true, masked = true, claimed, reserved = 0 } = options;
  const bytes = Buffer.from(payload);
  const length = claimed ?? BigInt(bytes.length);
  const mask = masked ? 0x80 : 0;
  const head = Buffer.alloc(length < 126n ? 2 : length < 65_536n ? 4 : 10);
  head[0] = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  if (head.length === 2) head[1] = mask | Number(length);
  else if (head.length === 4) {
    head[1] = mask | 126;
    head.writeUInt16BE(Number(length), 2);
  } else {
    head[1] = mask | 127;
    head.writeBigUInt64BE(length, 2);
  }
  return Buffer.concat([head, ...(masked ? [Buffer.alloc(4)] : []), bytes]);
}

/** The client's side of a WebSocket, frame by frame. It may break every rule. */
export class RawSocket implements Disposable {
  /** Resolves with the code of the server's close frame when the connection has ended; null without one. */
  readonly closed: Promise<number | null>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.closed = promise;
    socket.on("data", (data) => {
      this.#received = Buffer.concat([this.#received, Buffer.from(data)]);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(closeCodeIn(this.#received)));
  }

  /** Opens a WebSocket, and waits for the server's answer to the request. @throws {Error} if it refuses */
  static async open(port: number, path: string, headers: Readonly<Record<string, string>>): Promise<RawSocket> {
    const socket = connect(port, "127.0.0.1");
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    let head = Buffer.alloc(0);
    const read = (data: Buffer | string) => {
      head = Buffer.concat([head, Buffer.from(data)]);
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", read);
      resolve(head);
    };
    socket.on("data", read);
    socket.on("error", reject);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const upgrade = [
      ...["Host: localhost", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"],
      "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
    ];
    socket.write([`GET ${path} HTTP/1.1`, ...upgrade, ...lines, "", ""].join("\r\n"));
    const answer = (await promise).toString("latin1");
    if (!answer.startsWith("HTTP/1.1 101 ")) throw new Error(`the server refused: ${answer.split("\r\n")[0]}`);
    return new RawSocket(socket);
  }

  /** Sends bytes, as fast as the server takes them. */
  send(...frames: readonly Uint8Array[]): void {
    for (const each of frames) this.#socket.write(each);
  }

  /** Reads nothing any more. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads on, until the connection ends. */
  resume(): void {
    this.#socket.resume();
  }

  /** Ends the connection without a close frame. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Returns the code of a close frame, which is the last frame; null if there is none. */
function closeCodeIn(received: Buffer): number | null {
  for (let at = 0; at + 2 <= received.length; ) {
    const opcode = (received[at] ?? 0) & 0x0f;
    const short = (received[at + 1] ?? 0) & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (at + head > received.length) return null;
    const length =
      short < 126 ? short : short === 126 ? received.readUInt16BE(at + 2) : Number(received.readBigUInt64BE(at + 2));
    if (opcode === opcodes.close) return received.length >= at + head + 2 ? received.readUInt16BE(at + head) : null;
    at += head + length;
  }
  return null;
}
