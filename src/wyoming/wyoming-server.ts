import { createServer, type Server, type Socket } from "node:net";
import { type AddressWithPort, formatAddressWithPort, parseAddressWithPort } from "../addresses/index.ts";
import type { WyomingMetrics } from "../telemetry/index.ts";
import { Admission, type AdmissionOptions } from "./admission.ts";
import { Connection, type ConnectionServices, type TimeLimits } from "./connection.ts";
import { encodeEvent } from "./outgoing-events.ts";

/** Parses the address to listen on. @throws {Error} that says what is valid */
export function parseListenAddress(text: string): AddressWithPort {
  return parseAddressWithPort(text, "127.0.0.1:10300, 0.0.0.0:10300 or [::]:10300");
}

export interface WyomingOptions
  extends Omit<ConnectionServices, "times" | "metrics">,
    Omit<AdmissionOptions, "metrics"> {
  readonly metrics: WyomingMetrics;
  /** Returns whether no client may be served now. */
  readonly isPaused: () => boolean;
  /** Replaces the time limits, for tests. */
  readonly times?: TimeLimits;
}

const timeLimits: TimeLimits = { event: 60_000, sound: 30_000, end: 3000 };

/**
 * A server for Wyoming, the protocol of Home Assistant for voice services. The protocol has neither keys nor encryption:
 * clients are admitted by their network, and all sessions belong to one account.
 */
export class WyomingServer {
  readonly #options: WyomingOptions;
  readonly #admission: Admission;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Connection>();

  constructor(options: WyomingOptions) {
    this.#options = options;
    this.#admission = new Admission(options);
    // A client may close its side after audio-stop, and still read the transcript.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    options.metrics.observe(() => this.#admission.open);
  }

  /** Starts to listen. @returns the address with its port @throws {Error} if the address can't be used */
  async listen({ host, port }: AddressWithPort): Promise<string> {
    const listening = Promise.withResolvers<void>();
    this.#server.once("error", listening.reject);
    this.#server.listen({ host, port }, listening.resolve);
    await listening.promise;
    this.#server.off("error", listening.reject);
    // For example that no connection can be accepted, because too many files are open.
    this.#server.on("error", (err) => this.#options.log.error({ event: "wyoming.accept_failed", err }));
    const bound = this.#server.address();
    return formatAddressWithPort({ host, port: typeof bound === "object" && bound !== null ? bound.port : port });
  }

  /** Closes all connections at once. */
  cut(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  /** Accepts no more connections, and ends those that are open. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections.values()) connection.stop();
    await closed;
  }

  #accept(socket: Socket): void {
    // An error is followed by `close`.
    socket.on("error", () => {});
    if (this.#options.isPaused()) {
      socket.destroy();
      return;
    }
    const refusal = this.#admission.admit(socket);
    if (refusal === "foreign") {
      socket.destroy();
      return;
    }
    if (refusal !== null) {
      const text = "The server has as many connections as it can.";
      this.#options.metrics.error("too_many_connections");
      socket.end(encodeEvent("error", { text, code: "too_many_connections" }), () => socket.destroy());
      return;
    }
    const connection = new Connection(socket, { times: timeLimits, ...this.#options });
    this.#connections.set(socket, connection);
    socket.once("close", () => this.#connections.delete(socket));
    void connection.serve();
  }
}
