import type { Declarations, Sample } from "./declare.ts";

/** The fleet of a server, if it has one. */
export interface FleetSource {
  /** Returns null if the server works alone. */
  fleet(): {
    readonly brokerConnected: boolean;
    readonly machines: readonly {
      readonly machine: string;
      /** Empty for a worker with a certificate of its own. */
      readonly pool: string;
      readonly lanes: number;
      readonly problem: string | null;
    }[];
    /** The workers that the waiting audio needs. */
    readonly demand: {
      readonly wanted: number;
      readonly waitingAudioSeconds: number;
      readonly laneSpeed: number;
    };
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
    "Operations that each worker of the fleet, or all workers of a pool, run at the same time; 0 for one that takes none",
    ofFleet(({ machines }) => lanesByName(machines)),
    ["machine"],
  );
  declare.gauge(
    "transcribe_fleet_pool_workers",
    "Workers of each pool that take parts of recordings",
    ofFleet(({ machines }) =>
      [
        ...Map.groupBy(
          machines.filter(({ pool }) => pool !== ""),
          ({ pool }) => pool,
        ),
      ].map(([pool, workers]) => [workers.filter(isUsable).length, pool]),
    ),
    ["pool"],
  );
  declare.gauge(
    "transcribe_fleet_wanted_workers",
    "Workers that process the waiting audio within fleet.target_minutes, at most fleet.max_workers; 0 if none waits",
    ofFleet(({ demand }) => demand.wanted),
  );
  declare.gauge(
    "transcribe_fleet_waiting_audio_seconds",
    "Duration of the audio in open recordings that is not processed yet, estimated for recordings that are not decoded yet",
    ofFleet(({ demand }) => demand.waitingAudioSeconds),
  );
  declare.gauge(
    "transcribe_fleet_lane_speed",
    "Seconds of recordings that one lane of a worker processes in a second, as measured",
    ofFleet(({ demand }) => demand.laneSpeed),
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

type Machines = Fleet["machines"];

const isUsable = ({ lanes, problem }: Machines[number]) => lanes > 0 && problem === null;

/** Returns the lanes of each machine. The workers of a pool come and go under many names, so they share the pool's name. */
function lanesByName(machines: Machines): readonly Sample[] {
  const groups = Map.groupBy(machines, ({ machine, pool }) => pool || machine);
  return [...groups].map(([name, workers]) => [
    workers.filter(isUsable).reduce((sum, { lanes }) => sum + lanes, 0),
    name,
  ]);
}
