import type { Socket } from "node:net";
import { addressGroup, includes, type Networks, plainAddress } from "../addresses/index.ts";
import type { Logger, WyomingMetrics } from "../telemetry/index.ts";

export interface AdmissionOptions {
  /** Networks that may connect. */
  readonly networks: () => Networks;
  readonly metrics: Pick<WyomingMetrics, "connection">;
  readonly log: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

/** Connections at the same time, and those of one address (IPv6: /64). */
const MAX_CONNECTIONS = 64;
const MAX_CONNECTIONS_PER_ADDRESS = 16;
/** Interval between two log lines about refused connections, for each reason. */
const LOG_MILLISECONDS = 60_000;

/** Why a connection is not admitted. `foreign`: its address is in no network that may connect. */
type Refusal = "foreign" | "too_many" | "too_many_of_address";

/** Decides which connections are served, and counts those that are open. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #open = new Set<Socket>();
  readonly #openByGroup = new Map<string, number>();
  /** Time of the last log line for a reason, and the number of connections that were refused since. */
  readonly #refused = new Map<Refusal, { loggedAt: number; since: number }>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open.size;
  }

  /** Admits a connection until it is closed. @returns why it is not admitted; null if it is */
  admit(socket: Socket): Refusal | null {
    const address = plainAddress(socket.remoteAddress ?? "") ?? "";
    const group = addressGroup(address);
    const refusal = this.#refusalOf(address, group);
    this.#options.metrics.connection(refusal === null ? "served" : refusal === "foreign" ? "foreign" : "too_many");
    if (refusal !== null) {
      this.#log(refusal, address);
      return refusal;
    }
    this.#open.add(socket);
    this.#openByGroup.set(group, (this.#openByGroup.get(group) ?? 0) + 1);
    socket.once("close", () => {
      this.#open.delete(socket);
      const rest = (this.#openByGroup.get(group) ?? 0) - 1;
      if (rest > 0) this.#openByGroup.set(group, rest);
      else this.#openByGroup.delete(group);
    });
    return null;
  }

  #refusalOf(address: string, group: string): Refusal | null {
    if (!includes(this.#options.networks(), address)) return "foreign";
    if (this.#open.size >= MAX_CONNECTIONS) return "too_many";
    return (this.#openByGroup.get(group) ?? 0) >= MAX_CONNECTIONS_PER_ADDRESS ? "too_many_of_address" : null;
  }

  #log(reason: Refusal, address: string): void {
    const { clock, log } = this.#options;
    const refused = this.#refused.get(reason) ?? { loggedAt: Number.NEGATIVE_INFINITY, since: 0 };
    refused.since += 1;
    this.#refused.set(reason, refused);
    if (clock() - refused.loggedAt < LOG_MILLISECONDS) return;
    log.warn({ event: "wyoming.refused", reason, address, connections: refused.since });
    refused.loggedAt = clock();
    refused.since = 0;
  }
}
