import { connect, type Socket } from "node:net";

/** An event as a client receives it. */
export interface ReceivedEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** A client that writes any bytes and reads the server's events. It is independent of the server's own parser. */
export class WyomingClient implements AsyncDisposable {
  readonly socket: Socket;
  readonly #closed = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #received = Buffer.alloc(0);
  #wake = () => {};
  #isEnded = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    const end = () => {
      this.#isEnded = true;
      this.#ended.resolve();
      this.#wake();
    };
    socket.on("data", (bytes: Uint8Array) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on("end", end);
    socket.on("error", () => {});
    socket.on("close", () => {
      end();
      this.#closed.resolve();
    });
  }

  /**
   * @param address the server's, `HOST:PORT`
   * @param localAddress the client's own
   * @param allowHalfOpen whether the client goes on after the server has closed its side
   */
  static async connect(address: string, localAddress = "127.0.0.1", allowHalfOpen = false): Promise<WyomingClient> {
    const [host = "", port = ""] = address.split(":");
    const socket = connect({ host, port: Number(port), localAddress, allowHalfOpen });
    const client = new WyomingClient(socket);
    await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
    return client;
  }

  /** Sends an event as the package `wyoming` does: the data after the header. */
  send(type: string, data: Record<string, unknown> = {}, payload: Uint8Array = new Uint8Array()): void {
    const text = Buffer.from(JSON.stringify(data));
    const header = { type, version: "1.10.2", data_length: text.length, payload_length: payload.length };
    this.write(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), text, payload]));
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(bytes);
  }

  /** Returns the next event; null when the server has closed its side. */
  async next(): Promise<ReceivedEvent | null> {
    for (;;) {
      const event = this.#take();
      if (event !== null) return event;
      if (this.#isEnded) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the events up to one of a type, or to the end of the connection. */
  async until(type: string): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (event === null) return events;
      events.push(event);
      if (event.type === type) return events;
    }
  }

  /** Waits until the connection is closed on both sides. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Waits until the server has closed its side. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }

  #take(): ReceivedEvent | null {
    const lineEnd = this.#received.indexOf("\n");
    if (lineEnd === -1) return null;
    const header: { type: string; data_length?: number } = JSON.parse(this.#received.toString("utf8", 0, lineEnd));
    const end = lineEnd + 1 + (header.data_length ?? 0);
    if (this.#received.length < end) return null;
    const text = this.#received.toString("utf8", lineEnd + 1, end);
    this.#received = this.#received.subarray(end);
    return { type: header.type, data: text === "" ? {} : JSON.parse(text) };
  }
}
