/**
 * Measures the cost of growth: the speed with more recordings at once, longer recordings, and more threads or devices.
 * `scripts/bench scale [--part NAME …] [--short] [--json] [--write]`; on two quiet cores it takes about seventeen minutes.
 * Real models compute up to an hour of audio on up to two threads. Longer recordings and more devices are a simulation:
 * a real server distributes the parts to scripted devices, which sleep in proportion to the audio.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { circumstances, writeGeneratedTable } from "../shared/circumstances.ts";
import { beforeStop } from "../shared/processes.ts";
import { type Load, makeSilence, measureScaling, startCoordinator } from "./fleet-scaling.ts";
import { refuse } from "./options.ts";
import { scaleChart } from "./scale-chart.ts";
import { type ScaleFigures, type ScaleGroup, scaleRows, scaleTable, verdict } from "./scale-figures.ts";
import { measureReal, type RealLoad } from "./scale-real.ts";
import { asMarkdown, asText, benchmarksPagePath } from "./show-table.ts";

const PARTS = ["real", "simulated"] as const;
const WRITER = "scripts/bench scale --write";
const CHART = "scale.svg";
/** Speed of each simulated device, as a multiple of real time: several times that of two cores. */
const TIMES_REAL_TIME = 100;

/** Loads of the real server, in each group from the smallest to the largest. */
const REAL: readonly RealLoad[] = [
  { group: "length", load: "1 × 1 min", recordings: 1, minutes: 1, threads: 2 },
  { group: "length", load: "1 × 10 min", recordings: 1, minutes: 10, threads: 2 },
  { group: "length", load: "1 × 1 h", recordings: 1, minutes: 60, threads: 2 },
  ...[1, 2, 5, 10].map((recordings) => ({
    ...{ group: "recordings at once" as const, load: String(recordings), recordings, minutes: 2, threads: 2 },
  })),
  ...[1, 2].map((threads) => ({
    ...{ group: "devices" as const, load: `${4 * threads} × 2 min`, recordings: 4 * threads, minutes: 2, threads },
  })),
];

interface SimulatedLoad extends Omit<Load, "timesRealTime"> {
  readonly group: ScaleGroup;
  readonly load: string;
}

/** Loads of the simulated devices. */
const SIMULATED: readonly SimulatedLoad[] = [
  { group: "length", load: "60 × 1 min", recordings: 60, hours: 1 / 60, workers: 4 },
  { group: "length", load: "1 × 1 h", recordings: 1, hours: 1, workers: 4 },
  { group: "length", load: "1 × 6 h", recordings: 1, hours: 6, workers: 4 },
  ...[1, 2, 5, 10].map((recordings) => ({
    ...{ group: "recordings at once" as const, load: String(recordings), recordings, hours: 0.5, workers: 4 },
  })),
  ...[1, 2, 4, 8].map((workers) => ({
    ...{ group: "devices" as const, load: `${4 * workers} × 10 min`, recordings: 4 * workers, hours: 1 / 6, workers },
  })),
];
/** Longest recordings with --short. */
const SHORT_MINUTES = { real: 1, simulated: 30 } as const;

const { parts, short, json, write } = readOptions();
const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-scale-"));
const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
beforeStop(removeDirectory);
try {
  const startedAt = performance.now();
  const figures = [...(await real()), ...(await simulated())];
  await report(figures);
  console.error(`bench: ${Math.round((performance.now() - startedAt) / 1000)} s`);
} finally {
  removeDirectory();
}

async function real(): Promise<ScaleFigures[]> {
  if (!parts.includes("real")) return [];
  if (!existsSync(join(audioDirectory, "manifest.json"))) {
    console.error(`bench: real models are not measured, because ${audioDirectory} contains no manifest.json`);
    return [];
  }
  const loads = REAL.map((load) => (short ? { ...load, minutes: Math.min(load.minutes, SHORT_MINUTES.real) } : load));
  return await measureReal(loads, audioDirectory, directory);
}

async function simulated(): Promise<ScaleFigures[]> {
  if (!parts.includes("simulated")) return [];
  const program = await natsServerProgram("scripts/bench scale");
  if (program === null) return [];
  await using broker = await new NatsServer(program).start();
  beforeStop(() => broker[Symbol.asyncDispose]());
  await using coordinator = await startCoordinator(broker, directory);
  const figures: ScaleFigures[] = [];
  for (const { group, load, ...one } of SIMULATED) {
    console.error(`bench: ${group}: ${load}, ${one.workers} simulated devices`);
    const hours = short ? Math.min(one.hours, SHORT_MINUTES.simulated / 60) : one.hours;
    const path = join(directory, `${hours}h.flac`);
    const file = existsSync(path) ? path : await makeSilence(hours, directory);
    const { seconds } = await measureScaling({ ...one, hours, timesRealTime: TIMES_REAL_TIME }, coordinator, file);
    console.error(`bench: ${seconds.toFixed(1)} s`);
    const audioHours = one.recordings * hours;
    figures.push({ group, by: "simulated", load, audioHours, devices: one.workers, seconds, cpuSeconds: null });
  }
  return figures;
}

async function report(figures: readonly ScaleFigures[]): Promise<void> {
  const when = await circumstances(Date.now());
  const cut = `, shortened to ${SHORT_MINUTES.real} min and, simulated, ${SHORT_MINUTES.simulated} min`;
  const heading = `${when.date}, commit ${when.commit}, ${when.machine}${short ? cut : ""}`;
  const rows = scaleRows(figures);
  const table = scaleTable(rows);
  if (json) console.log(JSON.stringify({ ...when, rows }, null, 2));
  else console.log([heading, asText(table), verdict(rows)].join("\n\n"));
  if (!write) return;
  writeFileSync(join(root, "docs", CHART), scaleChart(rows, heading));
  const chart = `![Speed of each thread or device as loads grow](${CHART})`;
  const text = [`${heading}:`, asMarkdown(table), verdict(rows), chart].join("\n\n");
  writeGeneratedTable(benchmarksPagePath, WRITER, text);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        part: { type: "string", multiple: true, default: [] as string[] },
        short: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
      },
    });
    const unknown = values.part.find((name) => !PARTS.some((part) => part === name));
    if (unknown !== undefined) refuse(`unknown part ${unknown}; known are ${PARTS.join(", ")}`);
    const isWhole = values.part.length === 0 && !values.short;
    if (values.write && !isWhole) refuse("--write needs all parts at their full length");
    return { ...values, parts: values.part.length === 0 ? PARTS : values.part };
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}
