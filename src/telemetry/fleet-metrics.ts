import { Counter, type Registry } from "prom-client";
import { labelledGauge, type Sample } from "./declare.ts";

/** The fleet of a server, if it has one. */
export interface FleetSource {
  /** Returns null if the server works alone. */
  fleet(): {
    readonly brokerConnected: boolean;
    readonly machines: readonly { readonly machine: string; readonly lanes: number; readonly problem: string | null }[];
    /** Round-trip time to the broker in seconds; null until it is measured, and while the broker is away. */
    readonly roundTripSeconds: number | null;
    readonly published: number;
    readonly counts: {
      readonly redelivered: number;
      readonly lateResults: number;
      readonly refusedResults: number;
      readonly unreported: number;
      readonly sentBytes: number;
      readonly receivedBytes: number;
    };
  } | null;
}

type Fleet = NonNullable<ReturnType<FleetSource["fleet"]>>;

/** Registers the metrics of a fleet. A server that works alone has no series of them. */
export function registerFleetMetrics(registry: Registry, source: FleetSource): void {
  const gauge = <L extends string = never>(
    name: string,
    help: string,
    read: (fleet: Fleet) => readonly Sample<L>[],
    labels: readonly L[] = [],
  ) => {
    labelledGauge(registry, name, help, labels, () => {
      const fleet = source.fleet();
      return fleet === null ? [] : read(fleet);
    });
  };
  const one = (value: number) => [{ labels: {}, value }];
  gauge("transcribe_fleet_broker_connected", "1 while the server reaches the fleet's broker", (fleet) =>
    one(fleet.brokerConnected ? 1 : 0),
  );
  gauge(
    "transcribe_fleet_worker_lanes",
    "Operations that each worker of the fleet runs at the same time; 0 for a worker that takes none",
    ({ machines }) =>
      machines.map(({ machine, lanes, problem }) => ({ labels: { machine }, value: problem === null ? lanes : 0 })),
    ["machine"],
  );
  gauge(
    "transcribe_fleet_broker_round_trip_seconds",
    "Round-trip time to the fleet's broker, measured every five seconds",
    ({ roundTripSeconds }) => (roundTripSeconds === null ? [] : one(roundTripSeconds)),
  );
  gauge("transcribe_fleet_parts_in_flight", "Parts of recordings that the broker or a worker has", ({ published }) =>
    one(published),
  );
  const counters: readonly [string, string, (counts: Fleet["counts"]) => number][] = [
    ["redelivered", "Parts that the broker delivered again because a worker did not finish them", (c) => c.redelivered],
    ["late_results", "Results that came after their part was withdrawn or done elsewhere", (c) => c.lateResults],
    ["refused_messages", "Messages of workers that did not match their schema", (c) => c.refusedResults],
    [
      "unreported",
      "Parts that a worker fetched and did not report in time, so that they were published again",
      (c) => c.unreported,
    ],
    ["sent_bytes", "Bytes of parts sent to the broker", (c) => c.sentBytes],
    ["received_bytes", "Bytes of results received from workers", (c) => c.receivedBytes],
  ];
  for (const [name, help, read] of counters)
    registerTotal(registry, `transcribe_fleet_${name}_total`, help, source, read);
}

/** Registers a counter whose value is read from the fleet. */
function registerTotal(
  registry: Registry,
  name: string,
  help: string,
  source: FleetSource,
  read: (counts: Fleet["counts"]) => number,
): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      const fleet = source.fleet();
      this.reset();
      if (fleet === null) this.remove({});
      else this.inc(read(fleet.counts));
    },
  });
}
