import { available, corpusPath } from "../../harness/checkout.ts";
import { cpuSettings } from "../../harness/device.ts";
import { metricsOf, newServer, patientClient, sendAtOnce, type Took } from "../../harness/measured-server.ts";
import type { NatsServer } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms } from "../shared/cpu-variant.ts";
import { MIB, median, percent, quantile } from "../shared/figures.ts";
import { flag, someOf, UsageError, whole } from "../shared/options.ts";
import { asMarkdown, report, reportOptions, type Table, writeGenerated } from "../shared/table.ts";
import {
  coordinatorSettings,
  type Load,
  type LoadFigures,
  measureLoad,
  startBroker,
  startCoordinator,
} from "./fleet-load.ts";
import { makeRecording } from "./recordings.ts";

/** The loads of each part. Fewer workers get less audio, so that each load takes about as long for each worker. */
const LOADS: Readonly<Record<"one" | "many", readonly Load[]>> = {
  one: [
    { workers: 1, recordings: 1, hours: 0.5 },
    { workers: 2, recordings: 1, hours: 1 },
    { workers: 4, recordings: 1, hours: 2 },
    { workers: 8, recordings: 1, hours: 18 },
  ],
  many: [
    { workers: 1, recordings: 6, hours: 0.1 },
    { workers: 2, recordings: 12, hours: 0.1 },
    { workers: 4, recordings: 25, hours: 0.1 },
    { workers: 8, recordings: 50, hours: 1 },
  ],
};
/** Length of the longer recordings with --short. */
const SHORT_HOURS = { one: 2, many: 0.1 } as const;
const PARTS = ["one", "many", "overhead"] as const;

export const command = defineCommand({
  name: "scripts/bench fleet",
  about:
    "Measures a fleet: how it scales with its workers, the load on its coordinator, and its overhead with one worker. On " +
    "two quiet cores it takes about eleven minutes. The workers of the scaling are a simulation: their operations sleep in " +
    "proportion to their audio. Broker, messages, audio, database and coordinator are real. The overhead is measured with " +
    "real models.",
  options: {
    part: someOf("PART", "parts to measure", PARTS),
    short: flag("shorten the longer recordings"),
    pairs: whole("number of pairs of runs for the overhead", { fallback: 4 }),
    cpu: cpuOption,
    ...reportOptions,
  },
  async run({ part: parts, short, pairs, cpu, ...values }) {
    const isWhole = PARTS.every((part) => parts.includes(part)) && !short;
    if (values.write && !isWhole) throw new UsageError("--write needs all parts at their full length");
    const settings = await cpuSettings(cpu);
    await using stack = new AsyncDisposableStack();
    const broker = await startBroker(stack);
    const startedAt = performance.now();
    const loads = (["one", "many"] as const)
      .filter((part) => parts.includes(part))
      .flatMap((part) => LOADS[part].map((load) => (short ? shortened(load, SHORT_HOURS[part]) : load)));
    const scaling = await scale(loads, broker);
    const measuresOverhead =
      parts.includes("overhead") && available("overhead of a fleet", corpusPath("manifest.json"));
    const overhead = measuresOverhead ? await measureOverhead(pairs, broker, settings) : null;
    const sections = [
      ...(scaling.length === 0 ? [] : [scalingTable(scaling), coordinatorTable(scaling)]),
      ...(overhead === null ? [] : [overheadTable(overhead)]),
    ];
    const terms = overhead === null ? [] : cpuTerms(cpu);
    const heading = await report({ terms, sections, figures: { scaling, overhead } }, values, "scripts/bench fleet");
    const sizing = `${heading}:\n\n${asMarkdown(sizingTable(scaling))}`;
    if (values.write) writeGenerated("docs/fleet.md", "scripts/bench fleet --write", sizing);
    console.error(`bench: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  },
});

function shortened(load: Load, mostHours: number): Load {
  return { ...load, hours: Math.min(load.hours, mostHours) };
}

async function scale(loads: readonly Load[], broker: NatsServer): Promise<LoadFigures[]> {
  if (loads.length === 0) return [];
  await using stack = new AsyncDisposableStack();
  const coordinator = await startCoordinator(broker, stack);
  const figures: LoadFigures[] = [];
  for (const load of loads) {
    console.error(`bench: ${load.recordings} × ${load.hours} h, ${load.workers} simulated workers`);
    const measured = await measureLoad(load, coordinator);
    console.error(`bench: ${measured.seconds.toFixed(1)} s, efficiency ${measured.efficiency.toFixed(2)}`);
    figures.push(measured);
  }
  return figures;
}

/**
 * Compares a server's embedded engine with a fleet of one worker on the same machine, with real models. The sides take
 * turns, and the first one changes from pair to pair, so that other load affects both.
 */
async function measureOverhead(
  pairs: number,
  broker: NatsServer,
  settings: Readonly<Record<string, string>>,
): Promise<Overhead> {
  console.error(`bench: overhead with real models, ${pairs} pairs`);
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(temporaryDirectory());
  const { file } = await makeRecording("meetings", corpusPath(""), path);
  const alone = stack.use(newServer({ TRANSCRIBE_LOG_LEVEL: "error", ...settings }));
  const coordinator = stack.use(newServer({ ...coordinatorSettings(broker), ...settings }));
  for (const server of [alone, coordinator]) await server.start(false);
  await alone.untilReady();
  const worker = stack.use(
    new TestWorker({
      args: ["--fleet", broker.url],
      environment: { TRANSCRIBE_FLEET_MACHINE: "worker", TRANSCRIBE_LOG_LEVEL: "error", ...settings },
      verdictsOf: alone.dataDirectory,
    }),
  );
  await coordinator.until(async () => ((await metricsOf(coordinator)).get("transcribe_fleet_worker_lanes") ?? 0) > 0);
  await coordinator.untilReady();
  const sides = {
    alone: { server: alone, client: patientClient(alone), pids: [alone.pid] },
    fleet: {
      ...{ server: coordinator, client: patientClient(coordinator) },
      pids: [coordinator.pid, worker.pid, broker.pid],
    },
  };
  const run = async ({ server, ...options }: (typeof sides)["alone"]): Promise<Took> => {
    const { seconds, cpuSeconds } = await sendAtOnce(server, [file], options);
    return { seconds, cpuSeconds };
  };
  // The first recording of a side runs its one-time benchmarks.
  for (const side of Object.values(sides)) await run(side);
  const took = { alone: [] as Took[], fleet: [] as Took[] };
  for (let pair = 0; pair < pairs; pair++) {
    const order = ["alone", "fleet"] as const;
    for (const name of pair % 2 === 0 ? order : order.toReversed()) {
      const one = await run(sides[name]);
      took[name].push(one);
      console.error(
        `bench: pair ${pair + 1}, ${name}: ${one.seconds.toFixed(1)} s, ${one.cpuSeconds.toFixed(1)} CPU s`,
      );
    }
  }
  return took;
}

const HOUR = 3600;

function scalingTable(figures: readonly LoadFigures[]): Table {
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

function coordinatorTable(figures: readonly LoadFigures[]): Table {
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
function sizingTable(figures: readonly LoadFigures[]): Table {
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
interface Overhead {
  readonly alone: readonly Took[];
  readonly fleet: readonly Took[];
}

/** Returns the overhead of a fleet with one worker. `more` is the median over the pairs of consecutive runs. */
function overheadTable({ alone, fleet }: Overhead): Table {
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
