import type { OverheadFigures } from "./fleet-overhead.ts";
import type { ScalingFigures } from "./fleet-scaling.ts";
import type { Cells } from "./show-table.ts";
import { median } from "./table.ts";

const HOUR = 3600;
const MIB = 2 ** 20;

/** Returns how loads scale with the workers. */
export function scalingTable(figures: readonly ScalingFigures[]): Cells {
  return {
    head: ["recordings", "workers", "seconds", "decoding before, s", "× real time", "efficiency"],
    lines: figures.map(({ load, seconds, decodeSeconds, efficiency }) => {
      const alone = load.recordings === 1 ? decodeSeconds : 0;
      const distributed = seconds - alone;
      return [
        nameOf(load),
        String(load.workers),
        distributed.toFixed(1),
        load.recordings === 1 ? alone.toFixed(1) : "",
        ((load.recordings * load.hours * HOUR) / distributed).toFixed(0),
        efficiency.toFixed(2),
      ];
    }),
  };
}

/** Returns the load on the coordinator. */
export function coordinatorTable(figures: readonly ScalingFigures[]): Cells {
  return {
    head: [
      ...["recordings", "workers", "CPU", "CPU s per hour of audio", "broker's CPU", "peak MiB", "transactions/s"],
      ...["sent MB/s", "received MB/s", "event loop delay, median ms", "p99 ms", "GET, median ms", "GET, p99 ms"],
    ],
    lines: figures.map(({ load, coordinator, brokerCpuSeconds }) => {
      const { seconds, cpuSeconds, peakBytes, transactions, sentBytes, receivedBytes } = coordinator;
      const { delaysSeconds, responsesSeconds } = coordinator;
      return [
        ...[nameOf(load), String(load.workers), percent(cpuSeconds / seconds)],
        ...[(cpuSeconds / load.recordings / load.hours).toFixed(1), percent(brokerCpuSeconds / seconds)],
        ...[(peakBytes / MIB).toFixed(0), (transactions / seconds).toFixed(0)],
        ...[sentBytes, receivedBytes].map((bytes) => (bytes / 1e6 / seconds).toFixed(1)),
        ...[delaysSeconds, responsesSeconds].flatMap((values) =>
          [median(values), percentile99(values)].map((value) => (1000 * value).toFixed(1)),
        ),
      ];
    }),
  };
}

/** Returns what a coordinator needs for each hour of audio, by its largest load. */
export function sizingTable(figures: readonly ScalingFigures[]): Cells {
  const audioHours = ({ load }: ScalingFigures) => load.recordings * load.hours;
  const [largest] = figures.toSorted((a, b) => audioHours(b) - audioHours(a));
  if (largest === undefined) return { head: [], lines: [] };
  const { load, coordinator, brokerCpuSeconds, decodeSeconds } = largest;
  const each = (value: number, digits: number) => (value / audioHours(largest)).toFixed(digits);
  return {
    head: ["for each hour of audio, without a pause", `measured with ${nameOf(load)} and ${load.workers} workers`],
    lines: [
      ["sent to the broker, and from it to the workers", `${each(coordinator.sentBytes / 1e6, 0)} MB`],
      ["received from the workers", `${each(coordinator.receivedBytes / 1e6, 0)} MB`],
      ["CPU time of the coordinator's server", `${each(coordinator.cpuSeconds, 1)} s`],
      ["decoding of silence, in seconds of ffmpeg", `${each(decodeSeconds, 1)} s`],
      ["CPU time of the broker", `${each(brokerCpuSeconds, 1)} s`],
      ["transactions of the database", each(coordinator.transactions, 0)],
      ["peak memory of the coordinator's server, in all", `${(coordinator.peakBytes / MIB).toFixed(0)} MiB`],
    ],
  };
}

/** Returns the overhead of a fleet with one worker. */
export function overheadTable({ alone, fleet, moreTime, moreCpu }: OverheadFigures): Cells {
  const medianOf = (values: readonly number[]) => median(values).toFixed(1);
  const line = (name: string, runs: OverheadFigures["alone"], time: string, cpu: string) => [
    ...[name, medianOf(runs.map(({ seconds }) => seconds)), time],
    ...[medianOf(runs.map(({ cpuSeconds }) => cpuSeconds)), cpu],
  ];
  return {
    head: ["meetings, 420 s", "seconds", "more", "CPU s", "more"],
    lines: [
      line("server alone", alone, "", ""),
      line("fleet of one worker", fleet, percent(moreTime), percent(moreCpu)),
    ],
  };
}

function nameOf({ recordings, hours }: ScalingFigures["load"]): string {
  const length = hours < 1 ? `${Math.round(60 * hours)} min` : `${hours} h`;
  return `${recordings} × ${length}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN;
}
