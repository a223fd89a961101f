import type { Declarations, Sample } from "./declare.ts";

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
export function registerFleetMetrics(declare: Declarations, source: FleetSource): void {
  const ofFleet = (read: (fleet: Fleet) => number | null | readonly Sample[]) => () => {
    const fleet = source.fleet();
    return fleet === null ? null : read(fleet);
  };
  declare.gauge(
    "transcribe_fleet_broker_connected",
    "1 while the server reaches the fleet's broker",
    ofFleet(({ brokerConnected }) => (brokerConnected ? 1 : 0)),
  );
  declare.gauge(
    "transcribe_fleet_worker_lanes",
    "Operations that each worker of the fleet runs at the same time; 0 for a worker that takes none",
    ofFleet(({ machines }) => machines.map(({ machine, lanes, problem }) => [problem === null ? lanes : 0, machine])),
    ["machine"],
  );
  declare.gauge(
    "transcribe_fleet_broker_round_trip_seconds",
    "Round-trip time to the fleet's broker, measured every five seconds",
    ofFleet(({ roundTripSeconds }) => roundTripSeconds),
  );
  declare.gauge(
    "transcribe_fleet_parts_in_flight",
    "Parts of recordings that the broker or a worker has",
    ofFleet(({ published }) => published),
  );
  const counters: readonly [string, string, keyof Fleet["counts"]][] = [
    ["redelivered", "Parts that the broker delivered again because a worker did not finish them", "redelivered"],
    ["late_results", "Results that came after their part was withdrawn or done elsewhere", "lateResults"],
    ["refused_messages", "Messages of workers that did not match their schema", "refusedResults"],
    [
      "unreported",
      "Parts that a worker fetched and did not report in time, so that they were published again",
      "unreported",
    ],
    ["sent_bytes", "Bytes of parts sent to the broker", "sentBytes"],
    ["received_bytes", "Bytes of results received from workers", "receivedBytes"],
  ];
  for (const [name, help, key] of counters) {
    declare.readCounter(
      `transcribe_fleet_${name}_total`,
      help,
      ofFleet(({ counts }) => counts[key]),
    );
  }
}
