import { connect, type Socket } from "node:net";

/** A response whose client pauses after the head and some bytes of the body. */
export class UnreadResponse implements Disposable {
  /** Status line and headers. */
  readonly head: string;
  readonly #socket: Socket;
  readonly #ended: Promise<void>;
  #received: number;

  private constructor(socket: Socket, first: Buffer) {
    this.head = first.toString("latin1").split("\r\n\r\n")[0] ?? "";
    this.#received = first.length;
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    socket.on("close", () => resolve());
    socket.on("error", () => resolve());
  }

  /** Requests a URL and waits for the beginning of the response. */
  static async of(url: string, key: string): Promise<UnreadResponse> {
    const { hostname, port, pathname, search } = new URL(url);
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const socket = connect(Number(port), hostname);
    socket.on("error", reject);
    let first = Buffer.alloc(0);
    const read = (data: Buffer | string) => {
      first = Buffer.concat([first, Buffer.from(data)]);
      if (!first.includes("\r\n\r\n")) return;
      socket.off("data", read);
      socket.pause();
      resolve(first);
    };
    socket.on("data", read);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    return new UnreadResponse(socket, await promise);
  }

  get status(): number {
    return Number(this.head.split(" ")[1]);
  }

  header(name: string): string | null {
    return new RegExp(`^${name}: (.*)$`, "im").exec(this.head)?.[1]?.trim() ?? null;
  }

  /**
   * Reads until the server closes the connection or `enough` bytes have arrived.
   * @returns bytes received, with the head
   */
  async continueReading(enough = Number.POSITIVE_INFINITY): Promise<number> {
    const all = Promise.withResolvers<void>();
    this.#socket.on("data", (data) => {
      this.#received += Buffer.byteLength(data);
      if (this.#received >= enough) all.resolve();
    });
    this.#socket.resume();
    await Promise.race([this.#ended, all.promise]);
    return this.#received;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
