import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gpuOf } from "../../harness/device.ts";
import { messageOf } from "../../src/text/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { beforeStop } from "../shared/processes.ts";
import { CommandError } from "../shared/run-command.ts";
import type { Competitor, CompetitorFactory, Run, RunSettings } from "./competitor.ts";
import { readRuns } from "./competitor.ts";
import { fasterWhisper } from "./faster-whisper.ts";
import { readOptions, refuse } from "./options.ts";
import { makeRecording } from "./recordings.ts";
import {
  asText,
  benchmarksPagePath,
  circumstancesIn,
  overview,
  runsOf,
  stepsTable,
  withFigures,
} from "./show-table.ts";
import { rowsOf, wordErrorsOf } from "./table.ts";
import { ourName, transcribe } from "./transcribe.ts";
import { whisperCpp } from "./whisper-cpp.ts";

/** The programs that are compared. */
const entries: Readonly<Record<string, CompetitorFactory>> = {
  transcribe,
  "whisper-cli": whisperCpp,
  "faster-whisper": fasterWhisper,
};

type Recording = Awaited<ReturnType<typeof makeRecording>>;

const {
  rounds,
  runs: times,
  only,
  threads,
  language,
  gpu,
  json,
  add,
  write,
  audio,
} = readOptions(process.argv.slice(2));
const bench = { ...(await circumstances(Date.now())), threads, language };
const runs: Run[] = await readRuns(add, bench).catch((error: unknown) => refuse(messageOf(error)));
if (!existsSync(join(audio, "manifest.json"))) refuse(`${audio} contains no manifest.json`);

const folder = await mkdtemp(join(tmpdir(), "transcribe-bench-"));
const removeFolder = () => rm(folder, { recursive: true });
beforeStop(removeFolder);
try {
  const names = [...new Set([...rounds, ...runs].map(({ recording }) => recording))];
  const recordings = await Promise.all(names.map((name) => makeRecording(name, audio, folder)));
  if (times > 0) {
    const competitors = await competitorsFor({ threads, language, gpu: gpu === undefined ? null : await gpuOf(gpu) });
    for (let turn = 0; turn < times; turn++) await runAll(competitors, turn, recordings);
  }
  await printReport(recordings);
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
} finally {
  await removeFolder();
}

/** Returns the selected competitors that are available, and reports the others. */
async function competitorsFor(terms: RunSettings): Promise<Competitor[]> {
  const found: Competitor[] = [];
  for (const [make, enter] of Object.entries(entries)) {
    try {
      found.push(...(await enter(terms)));
    } catch (error) {
      console.error(`bench: ${make} is skipped: ${messageOf(error)}`);
    }
  }
  const wanted = found.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  if (wanted.length === 0)
    throw new CommandError(`no program is selected from ${found.map(({ name }) => name).join("; ")}`);
  return wanted;
}

/** Runs every competitor once. The first one changes from turn to turn. */
async function runAll(
  competitors: readonly Competitor[],
  turn: number,
  recordings: readonly Recording[],
): Promise<void> {
  const first = turn % competitors.length;
  const ordered = [...competitors.slice(first), ...competitors.slice(0, first)];
  for (const { recording: name, atOnce } of rounds) {
    const file = recordings.find((recording) => recording.name === name)?.file ?? "";
    for (const competitor of ordered) {
      const report = (message: string) =>
        console.error(`run ${turn + 1}, ${name}, ${atOnce} at once, ${competitor.name}: ${message}`);
      try {
        const figures = await competitor.run(Array.from({ length: atOnce }, () => file));
        runs.push({ recording: name, atOnce, by: competitor.name, figures });
        report(`${figures.seconds.toFixed(1)} s`);
      } catch (error) {
        report(`failed: ${messageOf(error)}`);
        process.exitCode = 1;
      }
    }
  }
}

async function printReport(recordings: readonly Recording[]): Promise<void> {
  if (runs.length === 0) throw new CommandError("there are no runs for a table");
  const errorsIn = await wordErrorsOf(recordings, runs).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.error(`bench: word errors are not counted: ${error.message}`);
    return () => null;
  });
  const rows = rowsOf(runs, { recordings, ours: ourName, errorsIn });
  console.log(`${circumstancesIn(bench)}, medians of ${runsOf(rows)}`);
  for (const { name, seconds, contents } of recordings) console.log(`${name}: ${Math.round(seconds)} s, ${contents}`);
  console.log(`\n${asText(overview(rows))}\n\n${asText(stepsTable(rows))}`);
  if (json !== undefined) await Bun.write(json, `${JSON.stringify({ ...bench, recordings, rows, runs }, null, 2)}\n`);
  if (write) await Bun.write(benchmarksPagePath, withFigures(await Bun.file(benchmarksPagePath).text(), bench, rows));
}
