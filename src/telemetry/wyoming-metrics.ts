import type { Counter } from "prom-client";
import type { Declarations } from "./declare.ts";

const connectionOutcomes = ["served", "foreign", "too_many"] as const;
const utteranceOutcomes = ["completed", "failed", "abandoned"] as const;

/** Metrics of the server for Wyoming. */
export class WyomingMetrics {
  readonly #connections: Counter<"outcome">;
  readonly #utterances: Counter<"outcome">;
  readonly #errors: Counter<"code">;
  #open: () => number = () => 0;

  /** @param errorCodes all codes of error events */
  constructor(declare: Declarations, errorCodes: readonly string[]) {
    declare.gauge("transcribe_wyoming_connections", "Open connections of Wyoming clients", () => this.#open());
    this.#connections = declare.counter(
      "transcribe_wyoming_connections_total",
      "Connections of Wyoming clients: served, from a network that may not connect (foreign), or more than allowed (too_many)",
      ["outcome"],
      connectionOutcomes.map((outcome) => ({ outcome })),
    );
    this.#utterances = declare.counter(
      "transcribe_wyoming_utterances_total",
      "Utterances of Wyoming clients: with a transcript (completed), with an error instead (failed), or not awaited by the client (abandoned)",
      ["outcome"],
      utteranceOutcomes.map((outcome) => ({ outcome })),
    );
    this.#errors = declare.counter(
      "transcribe_wyoming_errors_total",
      "Errors that ended connections of Wyoming clients, by code",
      ["code"],
      errorCodes.map((code) => ({ code })),
    );
  }

  /** Sets the source of the number of open connections. */
  observe(open: () => number): void {
    this.#open = open;
  }

  connection(outcome: (typeof connectionOutcomes)[number]): void {
    this.#connections.inc({ outcome });
  }

  utterance(outcome: (typeof utteranceOutcomes)[number]): void {
    this.#utterances.inc({ outcome });
  }

  error(code: string): void {
    this.#errors.inc({ code });
  }
}
