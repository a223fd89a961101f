import { connect, createServer, type Server, type Socket } from "node:net";

/** A connection between two machines, which a test cuts or holds up. It passes bytes on to a port of this machine. */
export class BadConnection implements Disposable {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #state: "passes" | "holds" | "cut" = "passes";

  /** @param target returns the port behind it */
  constructor(target: () => number) {
    this.#server = createServer((client) => {
      if (this.#state === "cut") {
        client.destroy();
        return;
      }
      const server = connect(target(), "127.0.0.1");
      this.#pass(client, server);
      this.#pass(server, client);
    });
  }

  /** @returns the port on which it listens */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  }

  /** Ends all connections, and refuses others until `heal`. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#open) socket.destroy();
  }

  /** Passes nothing on until `heal`, as when packets are lost. */
  hold(): void {
    this.#state = "holds";
    for (const socket of this.#open) socket.pause();
  }

  heal(): void {
    this.#state = "passes";
    for (const socket of this.#open) socket.resume();
  }

  [Symbol.dispose](): void {
    this.cut();
    this.#server.close();
  }

  #pass(from: Socket, to: Socket): void {
    this.#open.add(from);
    from.setNoDelay(true);
    from.on("data", (bytes) => {
      if (!to.write(bytes)) from.pause();
    });
    to.on("drain", () => {
      if (this.#state === "passes") from.resume();
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#open.delete(from);
      to.destroy();
    });
    if (this.#state === "holds") from.pause();
  }
}
