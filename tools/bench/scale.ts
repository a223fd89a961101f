import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { available, corpusPath, root } from "../../harness/checkout.ts";
import { cpuSettings } from "../../harness/device.ts";
import { newServer, sendAtOnce, type Took } from "../../harness/measured-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { repeat } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms } from "../shared/cpu-variant.ts";
import { median } from "../shared/figures.ts";
import { flag, someOf, UsageError } from "../shared/options.ts";
import { report, reportOptions } from "../shared/table.ts";
import { type Load, measureLoad, startBroker, startCoordinator } from "./fleet-load.ts";
import { makeRecording } from "./recordings.ts";
import { scaleChart } from "./scale-chart.ts";
import { type ScaleFigures, scaleRows, scaleTable, verdict } from "./scale-rows.ts";

const PARTS = ["real", "simulated"] as const;

type Of<T> = T & Pick<ScaleFigures, "group" | "load">;

type RealLoad = Of<{
  readonly recordings: number;
  /** Length of each recording. */
  readonly minutes: number;
  readonly threads: number;
}>;

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

const SIMULATED: readonly Of<Load>[] = [
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

/** Length of the recording before the first load: long enough that the server tests the encoder's ONNX form. */
const WARM_UP_MINUTES = 6;
/** Each real load is measured this often, in turns with the others. Medians count: other machines of the host disturb. */
const RUNS = 3;

export const command = defineCommand({
  name: "scripts/bench scale",
  about:
    "Measures the cost of growth: the speed with more recordings at once, longer recordings, and more threads or devices. " +
    "On two quiet cores it takes about seventeen minutes. Real models compute up to an hour of audio on up to two threads. " +
    "Longer recordings and more devices are a simulation: a real server distributes the parts to scripted devices, which " +
    "sleep in proportion to the audio.",
  options: {
    part: someOf("PART", "parts to measure", PARTS),
    short: flag("shorten the recordings"),
    cpu: cpuOption,
    ...reportOptions,
  },
  async run({ part: parts, short, cpu, ...values }) {
    const isWhole = PARTS.every((part) => parts.includes(part)) && !short;
    if (values.write && !isWhole) throw new UsageError("--write needs all parts at their full length");
    const settings = await cpuSettings(cpu);
    const startedAt = performance.now();
    const isReal = parts.includes("real") && available("loads with real models", corpusPath("manifest.json"));
    const rows = scaleRows([
      ...(isReal ? await measureReal(short, settings) : []),
      ...(parts.includes("simulated") ? await measureSimulated(short) : []),
    ]);
    const cut = `shortened to ${SHORT_MINUTES.real} min and, simulated, ${SHORT_MINUTES.simulated} min`;
    const sections = [scaleTable(rows), verdict(rows)];
    const chart = "![Speed of each thread or device as loads grow](scale.svg)";
    const terms = [...cpuTerms(cpu), ...(short ? [cut] : [])];
    const heading = await report(
      { terms, sections, figures: { rows }, pageOnly: chart },
      values,
      "scripts/bench scale",
    );
    if (values.write) writeFileSync(join(root, "docs/scale.svg"), scaleChart(rows, heading));
    console.error(`bench: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  },
});

/** Runs loads on servers with real models, one server for each number of threads. */
async function measureReal(short: boolean, settings: Readonly<Record<string, string>>): Promise<ScaleFigures[]> {
  const loads = short ? REAL.map((one) => ({ ...one, minutes: Math.min(one.minutes, SHORT_MINUTES.real) })) : REAL;
  using folder = temporaryDirectory();
  const { file: meetings } = await makeRecording("meetings", corpusPath(""), folder.path);
  const lasting = async (minutes: number, source: string) => {
    const path = join(folder.path, `${minutes}min.flac`);
    if (!existsSync(path)) await repeat(source, 60 * minutes, path);
    return path;
  };
  // All lengths have the same contents, so that only the length differs.
  const minute = await lasting(1, meetings);
  const done = new Map<RealLoad, Took[]>(loads.map((load) => [load, []]));
  for (const [threads, own] of Map.groupBy(loads, (load) => load.threads)) {
    await using server = newServer({ TRANSCRIBE_ENGINE_THREADS: String(threads), ...settings });
    await server.start();
    await sendAtOnce(server, [await lasting(WARM_UP_MINUTES, minute)]);
    for (let count = 1; count <= RUNS; count++) {
      for (const load of own) {
        const { group, load: name, recordings, minutes } = load;
        console.error(`bench: ${group}: ${name}, ${threads} threads, real models, run ${count} of ${RUNS}`);
        const copies: string[] = new Array(recordings).fill(await lasting(minutes, minute));
        const took = await sendAtOnce(server, copies);
        console.error(`bench: ${took.seconds.toFixed(1)} s`);
        done.get(load)?.push(took);
      }
    }
  }
  return [...done].map(([{ group, load, recordings, minutes, threads }, runs]) => ({
    ...{ group, by: "real models", load, devices: threads },
    audioHours: (recordings * minutes) / 60,
    seconds: median(runs.map(({ seconds }) => seconds)),
    cpuSeconds: median(runs.map(({ cpuSeconds }) => cpuSeconds)),
  }));
}

async function measureSimulated(short: boolean): Promise<ScaleFigures[]> {
  await using stack = new AsyncDisposableStack();
  const coordinator = await startCoordinator(await startBroker(stack), stack);
  const figures: ScaleFigures[] = [];
  for (const { group, load, hours: wholeHours, recordings, workers } of SIMULATED) {
    console.error(`bench: ${group}: ${load}, ${workers} simulated devices`);
    const hours = short ? Math.min(wholeHours, SHORT_MINUTES.simulated / 60) : wholeHours;
    const { seconds } = await measureLoad({ recordings, hours, workers }, coordinator);
    console.error(`bench: ${seconds.toFixed(1)} s`);
    const audioHours = recordings * hours;
    figures.push({ group, by: "simulated", load, audioHours, devices: workers, seconds, cpuSeconds: null });
  }
  return figures;
}
