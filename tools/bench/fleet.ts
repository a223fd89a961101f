/**
 * Measures a fleet: how it scales with its workers, the load on its coordinator, and its overhead with one worker.
 * `scripts/bench fleet [--part NAME …] [--short] [--pairs N] [--json] [--write]`; on two quiet cores it takes about
 * eleven minutes. The workers of the scaling are a simulation: their operations sleep in proportion to their audio.
 * Broker, messages, audio, database and coordinator are real. The overhead is measured with real models.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { circumstances, writeGeneratedTable } from "../shared/circumstances.ts";
import { beforeStop } from "../shared/processes.ts";
import { measureOverhead, type OverheadFigures } from "./fleet-overhead.ts";
import { type Load, makeSilence, measureScaling, type ScalingFigures, startCoordinator } from "./fleet-scaling.ts";
import { coordinatorTable, overheadTable, scalingTable, sizingTable } from "./fleet-tables.ts";
import { refuse } from "./options.ts";
import { makeRecording } from "./recordings.ts";
import { asMarkdown, asText, benchmarksPagePath } from "./show-table.ts";

const TIMES_REAL_TIME = 100;
/** The loads of each part. Fewer workers get less audio, so that each load takes about as long for each worker. */
const LOADS: Readonly<Record<"one" | "many", readonly Omit<Load, "timesRealTime">[]>> = {
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
const WRITER = "scripts/bench fleet --write";

const { parts, short, pairs, json, write } = readOptions();
const program = await natsServerProgram("scripts/bench fleet");
if (program === null) process.exit(1);
const directory = mkdtempSync(join(tmpdir(), "transcribe-bench-fleet-"));
const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
beforeStop(removeDirectory);
await using broker = await new NatsServer(program).start();
beforeStop(() => broker[Symbol.asyncDispose]());
try {
  const startedAt = performance.now();
  const scaling = await scale();
  const overhead = parts.includes("overhead") ? await compare() : null;
  await report(scaling, overhead);
  console.error(`bench: ${Math.round((performance.now() - startedAt) / 1000)} s`);
} finally {
  removeDirectory();
}

async function scale(): Promise<ScalingFigures[]> {
  const figures: ScalingFigures[] = [];
  const wanted = (["one", "many"] as const).filter((part) => parts.includes(part));
  if (wanted.length === 0) return figures;
  await using coordinator = await startCoordinator(broker, directory);
  for (const part of wanted) {
    for (const one of LOADS[part]) {
      const load = { ...one, hours: short ? Math.min(one.hours, SHORT_HOURS[part]) : one.hours };
      console.error(`bench: ${load.recordings} × ${load.hours} h, ${load.workers} simulated workers`);
      const file = join(directory, `${load.hours}h.flac`);
      if (!existsSync(file)) await makeSilence(load.hours, directory);
      const measured = await measureScaling({ ...load, timesRealTime: TIMES_REAL_TIME }, coordinator, file);
      console.error(`bench: ${measured.seconds.toFixed(1)} s, efficiency ${measured.efficiency.toFixed(2)}`);
      figures.push(measured);
    }
  }
  return figures;
}

async function compare(): Promise<OverheadFigures | null> {
  if (!existsSync(join(audioDirectory, "manifest.json"))) {
    console.error(`bench: the overhead is not measured, because ${audioDirectory} contains no manifest.json`);
    return null;
  }
  console.error(`bench: overhead with real models, ${pairs} pairs`);
  const { file } = await makeRecording("meetings", audioDirectory, directory);
  return await measureOverhead(file, pairs, broker);
}

async function report(scaling: readonly ScalingFigures[], overhead: OverheadFigures | null): Promise<void> {
  const when = await circumstances(Date.now());
  const heading = `${when.date}, commit ${when.commit}, ${when.machine}`;
  const tables = [
    ...(scaling.length === 0 ? [] : [scalingTable(scaling), coordinatorTable(scaling)]),
    ...(overhead === null ? [] : [overheadTable(overhead)]),
  ];
  if (json) console.log(JSON.stringify({ ...when, scaling, overhead }, null, 2));
  else console.log([heading, ...tables.map(asText)].join("\n\n"));
  if (!write) return;
  const paragraphs = [`${heading}:`, ...tables.map(asMarkdown)];
  writeGeneratedTable(benchmarksPagePath, WRITER, paragraphs.join("\n\n"));
  writeGeneratedTable(join(root, "docs/fleet.md"), WRITER, `${heading}:\n\n${asMarkdown(sizingTable(scaling))}`);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        part: { type: "string", multiple: true, default: [] as string[] },
        short: { type: "boolean", default: false },
        pairs: { type: "string", default: "4" },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
      },
    });
    const unknown = values.part.find((name) => !PARTS.some((part) => part === name));
    if (unknown !== undefined) refuse(`unknown part ${unknown}; known are ${PARTS.join(", ")}`);
    if (!/^[1-9]\d?$/.test(values.pairs)) refuse(`--pairs is a whole number from 1, not ${values.pairs}`);
    const isWhole = values.part.length === 0 && !values.short;
    if (values.write && !isWhole) refuse("--write needs all parts at their full length");
    return { ...values, parts: values.part.length === 0 ? PARTS : values.part, pairs: Number(values.pairs) };
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}
