import { percent } from "../../shared/figures.ts";
import type { Table } from "../../shared/table.ts";
import { sharesOf, type Totals } from "./costs.ts";
import { AVERAGE_MINUTES, type Costs, forHour } from "./model.ts";
import { type Plant, RESOURCES, type Simulated, simulate, WORK_BYTES_PER_HOUR, WRITES_OF_A_PAGE } from "./simulate.ts";

interface Plan {
  readonly name: string;
  /** For each coordinator. */
  readonly hoursAnHour: number;
  readonly slots: number;
  /** GPUs unless it says otherwise. */
  readonly workers?: "two cores";
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

const MOST_SLOTS = 64;

/** The installations that are simulated. The last ones are single coordinators of a divided installation. */
export const PLANS: readonly Plan[] = [
  { name: "100", hoursAnHour: 100, slots: 5, warmUpSeconds: 1800, seconds: 7200 },
  ...[5, MOST_SLOTS].flatMap((slots) =>
    ([undefined, "two cores"] as const).map((workers): Plan => {
      const name = `1,000, queue.slots = ${slots}${workers === undefined ? "" : `, workers with ${workers}`}`;
      return { name, hoursAnHour: 1000, slots, warmUpSeconds: 1800, seconds: 3600, ...(workers && { workers }) };
    }),
  ),
  { name: "10,000", hoursAnHour: 10_000, slots: MOST_SLOTS, warmUpSeconds: 600, seconds: 900 },
  ...[4, 8, 16].map((coordinators) => ({
    name: `10,000 on ${coordinators} coordinators`,
    hoursAnHour: 10_000 / coordinators,
    ...{ slots: MOST_SLOTS, warmUpSeconds: 1200, seconds: 2400 },
  })),
];

/** A worker with a large GPU, docs/gpu.md: 300 times real time, in twelve operations at once. */
const GPU = { timesRealTime: 300, lanes: 12 } as const;
/** A worker with two cores, docs/benchmarks.md. */
const TWO_CORES = { timesRealTime: 40, lanes: 2 } as const;
/** Workers have so much to spare, because recordings do not arrive evenly. */
const USED = 0.7;

const workersFor = (hoursAnHour: number, timesRealTime: number) => Math.ceil(hoursAnHour / timesRealTime / USED);

/** Returns the machines of a plan: a coordinator with 16 cores, a network of 10 Gbit/s, a disk of 1 GB/s, and workers. */
export function plantOf({ hoursAnHour, slots, workers }: Plan): Plant {
  const { timesRealTime, lanes } = workers === undefined ? GPU : TWO_CORES;
  return {
    ...{ cores: 16, shared: false, slots },
    ...{ lanes: workersFor(hoursAnHour, timesRealTime) * lanes, laneSpeed: timesRealTime / lanes },
    ...{ networkBytes: 1.25e9, diskBytes: 1e9, uploadBytes: UPLOAD_BYTES },
    ...{ pollEverySeconds: 5, accounts: 40, copies: true },
  };
}

/** Uploads with 64 kbit/s. */
const UPLOAD_BYTES = (64_000 / 8) * 3600;

/** Returns a number with three digits, and never as a power of ten. */
const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
const millis = (seconds: number) => digits(1000 * seconds);
const mega = (bytes: number) => digits(bytes / 1e6);

/** Returns what was measured, for each recording and each hour of audio. */
export function costsTable(costs: Costs): Table {
  const line = (
    name: string,
    { perRecording, perHour }: { perRecording: number; perHour: number },
    format: (value: number) => string,
  ) => [...[name, format(perRecording), format(perHour)]];
  const each = (value: number) => value.toFixed(0);
  return {
    head: ["cost", "each recording", "and each hour of audio"],
    lines: [
      line("server's main thread, CPU ms", costs.mainSeconds, millis),
      line("server's other threads, CPU ms", costs.threadSeconds, millis),
      line("ffmpeg and other children of the server, CPU ms", costs.childSeconds, millis),
      line("broker, CPU ms", costs.brokerSeconds, millis),
      line("parts", costs.parts, each),
      line("messages that the broker receives and sends", costs.brokerMessages, each),
      line("sent to the broker, MB", costs.sentBytes, mega),
      line("results from the broker, MB", costs.receivedBytes, mega),
      line("transactions", costs.transactions, each),
      line("pages of 4 KiB written to the write-ahead log", costs.pages, each),
      line("growth of the database, MB", costs.databaseBytes, mega),
      ["poll of a recording, CPU ms", millis(costs.requests.pollSeconds), ""],
      ["all segments, CPU ms", "", millis(costs.requests.resultSeconds)],
      ["all segments, MB", "", mega(costs.requests.resultBytes)],
      line("waits of the main thread for the disk", costs.syncs, (value) => value.toFixed(1)),
      ["each of these waits, ms", millis(costs.syncSeconds), ""],
      ["CPU ms of a commit, as part of the main thread's", millis(costs.commitSeconds), ""],
    ],
  };
}

/** Returns a load that the real coordinator processed, and the same one simulated. */
export function checkTable({ measured, simulated }: { measured: Totals; simulated: Simulated }): Table {
  const { recordings, hours, seconds } = measured;
  const { own, others } = sharesOf(measured);
  const row = (name: string, one: number, other: number, format: (value: number) => string) => [
    ...[name, format(one), format(other), percent(other / one - 1)],
  ];
  const share = (value: number) => percent(value);
  return {
    head: [`${recordings} recordings, ${hours.toFixed(1)} hours`, "measured", "simulated", "difference"],
    lines: [
      row("seconds", seconds, simulated.seconds, (value) => value.toFixed(1)),
      row("hours of audio an hour", (3600 * hours) / seconds, simulated.hoursAnHour, (value) => value.toFixed(0)),
      row("use of the cores", own, simulated.use.cores * (1 - others), share),
      ["use of the cores by other programs, which the simulation takes into account", share(others), "", ""],
    ],
  };
}

/** Returns the load of each installation by calculation. */
export function loadsTable(costs: Costs): Table {
  const sizes = [100, 1000, 10_000];
  const perSecond = (perHour: number) => sizes.map((hours) => (perHour * hours) / 3600);
  const of = (name: keyof Omit<Costs, "requests" | "syncSeconds" | "commitSeconds">) =>
    forHour(costs[name], AVERAGE_MINUTES);
  const gbit = (perHour: number) => perSecond(perHour).map((bytes) => ((8 * bytes) / 1e9).toPrecision(2));
  const written = UPLOAD_BYTES + WORK_BYTES_PER_HOUR + of("pages") * 4096 * WRITES_OF_A_PAGE;
  const standby = UPLOAD_BYTES + WORK_BYTES_PER_HOUR + of("pages") * 4096;
  const line = (name: string, cells: readonly (string | number)[]) => [name, ...cells.map(String)];
  return {
    head: ["hours of audio an hour", ...sizes.map((size) => size.toLocaleString("en"))],
    lines: [
      line(
        "recordings a second",
        perSecond(60 / AVERAGE_MINUTES).map((value) => value.toPrecision(2)),
      ),
      line(
        "workers with a large GPU",
        sizes.map((size) => workersFor(size, GPU.timesRealTime)),
      ),
      line(
        "or workers with two cores",
        sizes.map((size) => workersFor(size, TWO_CORES.timesRealTime).toLocaleString("en")),
      ),
      line(
        "transactions a second",
        perSecond(of("transactions")).map((value) => value.toFixed(0)),
      ),
      line(
        "seconds of the main thread in a second",
        perSecond(of("syncs") * costs.syncSeconds + of("mainSeconds")).map((value) => value.toFixed(2)),
      ),
      line(
        "cores of the server",
        perSecond(of("mainSeconds") + of("threadSeconds")).map((value) => value.toFixed(1)),
      ),
      line(
        "cores for decoding",
        perSecond(of("childSeconds")).map((value) => value.toFixed(1)),
      ),
      line(
        "cores of the broker",
        perSecond(of("brokerSeconds")).map((value) => value.toFixed(1)),
      ),
      line(
        "messages of the broker a second",
        perSecond(of("brokerMessages")).map((value) => value.toFixed(0)),
      ),
      line("to the workers, Gbit/s", gbit(of("sentBytes"))),
      line("and to a standby, Gbit/s", gbit(standby)),
      line("and to an object store, Gbit/s", gbit(UPLOAD_BYTES)),
      line("uploads, Gbit/s", gbit(UPLOAD_BYTES)),
      line(
        "written to the disk, MB/s",
        perSecond(written).map((bytes) => (bytes / 1e6).toFixed(1)),
      ),
      line(
        "database, GB a day",
        sizes.map((size) => digits((of("databaseBytes") * size * 24) / 1e9)),
      ),
      line(
        "uploads of 7 days, TB",
        sizes.map((size) => digits((UPLOAD_BYTES * size * 24 * 7) / 1e12)),
      ),
    ],
  };
}

interface PlanResult {
  readonly name: string;
  /** Hours of audio an hour, for each coordinator. */
  readonly load: number;
  readonly result: Simulated;
}

/** Returns the use of each resource and the waiting times by the simulation. */
export function planTable(plans: readonly PlanResult[]): Table {
  const time = (seconds: number) => (Number.isFinite(seconds) ? `${seconds.toFixed(seconds < 10 ? 1 : 0)} s` : "");
  return {
    head: [
      ...["hours of audio an hour", ...RESOURCES.filter((name) => name !== "network in")],
      ...["waits, median", "95 %", "ready after, median", "95 %", "keeps up"],
    ],
    lines: plans.map(({ name, result: { use, waitSeconds, turnaroundSeconds, keepsUp } }) => [
      name,
      ...RESOURCES.filter((each) => each !== "network in").map((each) => percent(use[each], 0)),
      ...[waitSeconds.median, waitSeconds.p95, turnaroundSeconds.median, turnaroundSeconds.p95].map(time),
      keepsUp ? "yes" : "no",
    ]),
  };
}

/** Loads between which the greatest load of one coordinator is searched, and the accuracy of the search. */
const SEARCH = { from: 500, to: 16_000, accuracy: 100 } as const;

/** Returns the greatest load with which one coordinator keeps up, by simulations. */
export function greatestLoad(costs: Costs): PlanResult {
  const run = (load: number): PlanResult => {
    const plan = { name: "", hoursAnHour: load, slots: MOST_SLOTS, warmUpSeconds: 600, seconds: 900 };
    return { name: `${load.toLocaleString("en")}, the most`, load, result: simulate(costs, plantOf(plan), plan) };
  };
  let [least, most]: [number, number] = [SEARCH.from, SEARCH.to];
  while (most - least > SEARCH.accuracy) {
    const middle = Math.round((least + most) / 2 / SEARCH.accuracy) * SEARCH.accuracy;
    if (run(middle).result.keepsUp) least = middle;
    else most = middle;
  }
  return run(least);
}

/** Returns a sentence for each installation: what limits it first. */
export function firstLimits(plans: readonly PlanResult[]): string {
  return plans
    .map(({ name, result: { use, keepsUp } }) => {
      const [first = "slots", second = "slots"] = RESOURCES.filter((each) => each !== "workers").toSorted(
        (a, b) => use[b] - use[a],
      );
      const limit = `the first limit is ${first}, used ${percent(use[first], 0)}, then ${second}, ${percent(use[second], 0)}`;
      return `- **${name}**: ${keepsUp ? "keeps up" : "does not keep up"}; ${limit}.`;
    })
    .join("\n");
}
