import { statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Device } from "../../harness/device.ts";
import { programCommand } from "../../harness/program.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { chooseGpus } from "../../src/devices/choose-gpus.ts";
import { chooseCpuLibraryFor, isGpuWithinReach } from "../../src/devices/index.ts";
import type { Gpu } from "../../src/operations/index.ts";
import { type ProgramFiles, programFiles } from "../../src/program/index.ts";
import { type GpuBackendKind, gpuBackends } from "../../src/runtimes/index.ts";
import { withSpeechSample } from "../../src/server/index.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { corpusOption, hasCorpus, readCorpus, samplesOf } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { FASTEST_CPU_VARIANT } from "../shared/cpu-variant.ts";
import { flag, text, type Values, whole, wholes } from "../shared/options.ts";
import { headingOf } from "../shared/table.ts";
import { Budget } from "./budget.ts";
import { measurePasses, type Passes, type PassesTask, WINDOW_SECONDS } from "./gpu-passes.ts";
import { type GpuFigures, gpuReport } from "./gpu-report.ts";
import { RANDOM_WHISPER_BYTES, writeRandomWhisper } from "./random-whisper.ts";
import { makeRecording } from "./recordings.ts";
import { measureSpeakers } from "./speakers.ts";
import { transcribe } from "./transcribe.ts";

/** Operations that decode alone. */
const LANES = [1, 2, 4, 8, 16];
/** Slots in the order in which they are measured: the most useful ones first. */
const SLOTS = [32, 16, 64, 8, 4, 2];
const BEAMS = [5, 1];
/** Minimum duration of a measurement. */
const MIN_SECONDS = 2;
/** Times of the measurements; starts, and operations that take longer than expected, are part of them. */
const SECONDS = {
  passes: { least: 15, most: 60 },
  recordings: { least: 75, most: 240 },
  speakers: { least: 20, most: 60 },
};
/** Number of windows of speech for the real model. */
const WINDOWS = 20;
/** Numbers of whole recordings that are sent at the same time. */
const COPIES = [1, 5];

const progress = (message: string) => console.error(message);
const never = new AbortController().signal;

const options = {
  cuda: text("PATH", "also measure the CUDA backend with this path, see engine.cuda_library", ""),
  minutes: whole("time limit in minutes", { fallback: 8 }),
  model: text("FILE", "another Whisper model than random weights in the shape of large-v3-turbo", ""),
  onlyBase: flag("leave out the large model"),
  slots: wholes("numbers of slots", { least: 2, fallback: SLOTS }),
  lanes: wholes("numbers of operations at once that decode alone", { fallback: LANES }),
  threads: whole("number of CPU threads", { fallback: availableParallelism() }),
  audio: corpusOption,
  json: flag("print the figures as JSON"),
};

export const command = defineCommand({
  name: "scripts/bench gpu",
  about:
    "Measures each GPU within a time limit, the most important figures first: windows of 30 s with random weights in the " +
    "shape of large-v3-turbo (1.7 GB in the system's directory for temporary files) and with Whisper base, with beams of " +
    "5 and greedy, in slots and alone; seven minutes of meetings from upload to transcript; and the speaker models on the " +
    "CPU. What does not fit is reported as skipped. Without a GPU it reports that nothing was measured.",
  options,
  async run({ minutes, json, ...given }) {
    if (!isGpuWithinReach()) {
      console.log("SKIPPED: no GPU can be reached here, because /dev has none. Nothing was measured.");
      return;
    }
    const cuda = given.cuda === "" ? "" : resolve(given.cuda);
    const budget = new Budget(minutes, (what) => progress(`SKIPPED: ${what}`));
    using folder = temporaryDirectory();
    const figures = await measureGpus({ ...given, cuda, folder: folder.path, budget, files: await programFiles("") });
    const when = await circumstances(Date.now());
    const { threads } = given;
    if (json) console.log(JSON.stringify({ ...when, threads, ...figures, skipped: budget.skipped }, null, 2));
    else {
      console.log(`${headingOf(when, `${threads} threads`)}:\n`);
      console.log(gpuReport(figures) || "Nothing was measured.");
      for (const what of budget.skipped) console.log(`\nSKIPPED: ${what}`);
    }
  },
});

interface Terms extends Omit<Values<typeof options>, "minutes" | "json"> {
  readonly folder: string;
  readonly budget: Budget;
  readonly files: ProgramFiles;
}

/** A GPU with the parts of a task that are the same for all measurements on it. */
interface UsableGpu {
  readonly kind: GpuBackendKind;
  readonly gpu: Gpu;
  readonly cpuLibrary: string;
}

/** A model, and the windows that it recognizes. */
interface Subject {
  readonly name: string;
  readonly path: string;
  readonly windows: string;
}

/** Makes all measurements that fit into the time, the most important ones first. */
async function measureGpus(terms: Terms): Promise<GpuFigures> {
  const { budget, model, onlyBase, files } = terms;
  const figures: GpuFigures = { passes: [], recordings: [], speakers: [] };
  const usable = await usableGpus(terms);
  if (usable.length === 0) {
    budget.skip("all measurements: no GPU passed its self-test");
    return figures;
  }
  const base = { name: "base", path: files.speechModel, windows: await writeWindows(terms) };
  const given = model === "" ? null : { ...base, name: model, path: model };
  const large = onlyBase ? null : (given ?? randomLarge(terms));
  const [first, ...others] = large === null ? ([base] as const) : ([large, base] as const);
  for (const [index, device] of usable.entries()) {
    const inSlots = async (subject: Subject) => {
      for (const slots of terms.slots) await passesOf(terms, device, subject, { slots, lanes: [slots] }, figures);
    };
    await inSlots(first);
    const isFirstOfKind = usable.findIndex(({ kind }) => kind === device.kind) === index;
    if (isFirstOfKind) await recordingsOf(terms, device.kind, figures);
    if (index === 0) await speakersOf(terms, figures);
    for (const other of others) await inSlots(other);
    for (const subject of [first, ...others]) {
      await passesOf(terms, device, subject, { slots: 1, lanes: [...terms.lanes] }, figures);
    }
  }
  return figures;
}

/** Returns the GPUs that pass their self-test, those of CUDA first. */
async function usableGpus({ folder, cuda, budget, files }: Terms): Promise<UsableGpu[]> {
  const { nativeDirectory, speechModel } = files;
  const withSample = <T>(use: (pcmPath: string) => Promise<T>) => withSpeechSample(files, use);
  const verdictsPath = join(folder, "devices.json");
  const selfTest = { command: programCommand("__selftest"), nativeDirectory, verdictsPath, signal: never };
  const { cpuLibrary } = await chooseCpuLibraryFor(selfTest, [speechModel]);
  const found: UsableGpu[] = [];
  for (const { kind } of gpuBackends(nativeDirectory, cuda)) {
    const { gpus, leftOut } = await chooseGpus({
      ...{ ...selfTest, cpuLibrary, speechModel, cudaLibrary: cuda, withSample, mustBeFaster: false },
      backends: (backend) => backend === kind,
      allows: () => true,
    });
    for (const { library, gpu, reason } of leftOut) budget.skip(`${gpu ?? library}: ${reason}`);
    found.push(...gpus.map((gpu) => ({ kind, gpu, cpuLibrary })));
  }
  return found;
}

/** Writes the model with random weights. @returns null if it is left out */
function randomLarge({ folder, budget, files }: Terms): Subject | null {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < 2 * RANDOM_WHISPER_BYTES) {
    budget.skip(`the large model: ${tmpdir()} has no space for it`);
    return null;
  }
  progress("writing the large model …");
  const path = join(folder, "large.bin");
  writeRandomWhisper(path, files.speechModel);
  return { name: "large-v3-turbo, random", path, windows: "" };
}

/** Writes windows of meetings, or of the bundled speech where the corpus is missing. @returns the path */
async function writeWindows({ audio, folder, files }: Terms): Promise<string> {
  const meetings = hasCorpus(audio) ? (await readCorpus(audio)).filter(({ group }) => group === "meeting") : [];
  const sources = meetings.length === 0 ? [files.benchRecording] : meetings.map(({ file }) => file);
  const parts: Float32Array<ArrayBuffer>[] = [];
  for (const file of sources) parts.push(await samplesOf(file));
  const once = new Float32Array(Bun.concatArrayBuffers(parts));
  const path = join(folder, "windows.f32");
  const length = WINDOWS * WINDOW_SECONDS * SAMPLE_RATE;
  await Bun.write(
    path,
    Float32Array.from({ length }, (_, at) => once[at % once.length] ?? 0),
  );
  return path;
}

async function passesOf(
  { budget, threads, files }: Terms,
  { gpu, cpuLibrary }: UsableGpu,
  { name, path, windows }: Subject,
  shares: Pick<PassesTask, "slots" | "lanes">,
  figures: GpuFigures,
): Promise<void> {
  let measured = figures.passes.find((each) => each.gpu === gpu.label && each.model === name);
  if (measured === undefined) {
    measured = { gpu: gpu.label, name: gpu.name, model: name, passes: [] };
    figures.passes.push(measured);
  }
  const { passes } = measured;
  const what = `${gpu.label}, ${name}, ${shares.slots > 1 ? `${shares.slots} in slots` : "alone"}`;
  const { nativeDirectory } = files;
  const task = { ...shares, nativeDirectory, cpuLibrary, gpu: gpu.library, model: path, windows, threads };
  const onLine = (line: Passes) => {
    passes.push(line);
    progress(`${what}: ${line.lanes} at once, beam ${line.beams}: ${line.speed.toFixed(1)} × real time`);
  };
  await budget.measure(what, SECONDS.passes, (seconds) =>
    measurePasses(
      { ...task, beams: [...BEAMS], minSeconds: MIN_SECONDS },
      { seconds, environment: gpu.environment, onLine },
    ),
  );
}

/**
 * Measures meetings from upload to transcript, as `scripts/bench --only transcribe` does, and kills the server when the
 * time is over.
 */
async function recordingsOf(
  { budget, audio, cuda, threads, folder }: Terms,
  kind: GpuBackendKind,
  figures: GpuFigures,
): Promise<void> {
  const library = kind === "cuda" && cuda !== "" ? { TRANSCRIBE_ENGINE_CUDA_LIBRARY: cuda } : {};
  const gpu: Device = { speechDevice: kind, environment: { TRANSCRIBE_ENGINE_DEVICE: kind, ...library } };
  await budget.measure(`whole recordings, ${kind}`, SECONDS.recordings, async (seconds) => {
    if (!hasCorpus(audio)) return `${audio} contains no recordings`;
    progress(`${kind}: whole recordings …`);
    const over = Promise.withResolvers<null>();
    const timer = setTimeout(() => over.resolve(null), 1000 * seconds);
    try {
      const { file, seconds: audioSeconds } = await makeRecording("meetings", audio, folder);
      const ours = transcribe({ threads, language: null, cpu: FASTEST_CPU_VARIANT, cpuSettings: {}, gpu });
      for (const atOnce of COPIES) {
        const run = ours.run(Array.from({ length: atOnce }, () => file));
        const took = await Promise.race([run, over.promise]);
        if (took === null) {
          // Its requests fail with the server.
          run.catch(() => {});
          await Promise.all([...TestServer.running].map((server) => server.killHard()));
          return `${atOnce} at once: it was ended after ${Math.round(seconds)} s`;
        }
        figures.recordings.push({
          device: kind,
          atOnce,
          audioSeconds: atOnce * audioSeconds,
          seconds: took.seconds,
        });
        progress(`${kind}: ${atOnce} whole recordings in ${took.seconds.toFixed(1)} s`);
      }
      return null;
    } finally {
      clearTimeout(timer);
    }
  });
}

/** Measures speech detection and speaker diarization on all threads, which the GPU may have to wait for. */
async function speakersOf({ budget, audio, threads, folder }: Terms, figures: GpuFigures): Promise<void> {
  await budget.measure("speaker models", SECONDS.speakers, async (seconds) => {
    if (!hasCorpus(audio)) return `${audio} contains no recordings`;
    progress("measuring the speaker models …");
    const signal = AbortSignal.timeout(1000 * seconds);
    figures.speakers.push(await measureSpeakers("meetings", { audio, folder, workers: threads, signal }));
    return null;
  });
}
