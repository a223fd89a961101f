import type { Took } from "../../harness/measured-server.ts";
import { MIB, median, percent, quantile } from "../shared/figures.ts";
import type { Table } from "../shared/table.ts";
import type { Load, LoadFigures } from "./fleet-load.ts";

const HOUR = 3600;

/** Returns how loads scale with the workers. */
export function scalingTable(figures: readonly LoadFigures[]): Table {
  return {
    head: ["recordings", "workers", "seconds", "decoding before, s", "× real time", "efficiency"],
    lines: figures.map(({ load, seconds, decodeSeconds, efficiency }) => {
      const isAlone = load.recordings === 1;
      const distributed = seconds - (isAlone ? decodeSeconds : 0);
      const timesRealTime = (load.recordings * load.hours * HOUR) / distributed;
      const before = isAlone ? decodeSeconds.toFixed(1) : "";
      return [
        ...[nameOf(load), String(load.workers), distributed.toFixed(1), before],
        ...[timesRealTime.toFixed(0), efficiency.toFixed(2)],
      ];
    }),
  };
}

/** Returns the load on the coordinator. */
export function coordinatorTable(figures: readonly LoadFigures[]): Table {
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
          [median(values), quantile(values, 0.99)].map((value) => (1000 * value).toFixed(1)),
        ),
      ];
    }),
  };
}

/** Returns what a coordinator needs for each hour of audio, by its largest load. */
export function sizingTable(figures: readonly LoadFigures[]): Table {
  const audioHours = ({ load }: LoadFigures) => load.recordings * load.hours;
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

/** The server alone with its embedded engine, and the same recordings with a fleet of one worker. */
export interface Overhead {
  readonly alone: readonly Took[];
  readonly fleet: readonly Took[];
}

/** Returns the overhead of a fleet with one worker. `more` is the median over the pairs of consecutive runs. */
export function overheadTable({ alone, fleet }: Overhead): Table {
  const line = (name: string, runs: readonly Took[], more: (figure: keyof Took) => string) => [
    name,
    ...(["seconds", "cpuSeconds"] as const).flatMap((figure) => {
      return [median(runs.map((run) => run[figure])).toFixed(1), more(figure)];
    }),
  ];
  const more = (figure: keyof Took) =>
    percent(median(fleet.map((run, pair) => run[figure] / (alone[pair]?.[figure] ?? Number.NaN))) - 1);
  return {
    head: ["meetings, 420 s", "seconds", "more", "CPU s", "more"],
    lines: [line("server alone", alone, () => ""), line("fleet of one worker", fleet, more)],
  };
}

function nameOf({ recordings, hours }: Load): string {
  const length = hours < 1 ? `${Math.round(60 * hours)} min` : `${hours} h`;
  return `${recordings} × ${length}`;
}
