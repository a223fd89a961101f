interface SocketOptions {
  readonly headers?: Record<string, string>;
  readonly protocols?: readonly string[];
}

type Message = Record<string, unknown> & { readonly type: string };

/** A WebSocket client that collects the messages of the server, which are JSON. */
export class TestSocket implements Disposable {
  readonly messages: Message[] = [];
  /** Resolves with code and reason when the connection is closed. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
  /** The subprotocol that the server chose; empty for none. */
  get protocol(): string {
    return this.#socket.protocol;
  }
  readonly #socket: WebSocket;
  #read = 0;
  #wake = () => {};

  private constructor(url: string, { headers = {}, protocols = [] }: SocketOptions) {
    this.#socket = new WebSocket(url, { headers, protocols: [...protocols] });
    this.#socket.binaryType = "arraybuffer";
    const { promise, resolve } = Promise.withResolvers<readonly [number, string]>();
    this.closed = promise;
    this.#socket.addEventListener("message", ({ data }) => {
      this.messages.push(JSON.parse(String(data)));
      this.#wake();
    });
    this.#socket.addEventListener("close", ({ code, reason }) => {
      resolve([code, reason]);
      this.#wake();
    });
  }

  /** Opens a socket, and waits until it is open. @throws {Error} if the server refuses it */
  static async open(url: string, options: SocketOptions = {}): Promise<TestSocket> {
    const socket = new TestSocket(url, options);
    const opened = new Promise<void>((resolve) => socket.#socket.addEventListener("open", () => resolve()));
    const refused = socket.closed.then(([code, reason]) => {
      throw new Error(`the server refused the socket: ${code} ${reason}`);
    });
    refused.catch(() => {});
    await Promise.race([opened, refused]);
    return socket;
  }

  send(data: object | string | Uint8Array): void {
    this.#socket.send(typeof data === "string" || data instanceof Uint8Array ? data : JSON.stringify(data));
  }

  /** Waits for the next message of a type, past others. @throws {Error} if the connection is closed before */
  async next(type: string): Promise<Message> {
    for (;;) {
      while (this.#read < this.messages.length) {
        const message = this.messages[this.#read++];
        if (message?.type === type) return message;
      }
      if (this.#socket.readyState === WebSocket.CLOSED) {
        const seen = this.messages.map((each) => each.type).join(", ");
        throw new Error(`the connection was closed without a message ${type}, after ${seen}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Closes the connection, and waits for its end. */
  async close(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}
