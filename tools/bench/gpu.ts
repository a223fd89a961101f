import { existsSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Gpu } from "../../src/engine/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { withSpeechSample } from "../../src/server/index.ts";
import { chooseGpus } from "../../src/speech/devices/choose-gpus.ts";
import { type GpuBackendKind, gpuBackends } from "../../src/speech/ggml.ts";
import { chooseCpuLibraryFor, isGpuWithinReach } from "../../src/speech/index.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { corpusOption, readCorpus, samplesOf } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { flag, text, type Values, whole, wholes } from "../shared/options.ts";
import { headingOf } from "../shared/table.ts";
import { Budget } from "./budget.ts";
import { measurePasses, type Passes, type PassesTask, WINDOW_SECONDS } from "./gpu-passes.ts";
import { type GpuFigures, gpuReport, type MeasuredPasses, type MeasuredRecordings } from "./gpu-report.ts";
import { RANDOM_WHISPER_BYTES, RANDOM_WHISPER_TOKENS, writeRandomWhisper } from "./random-whisper.ts";
import { measureSpeakers } from "./speakers.ts";
import type { SpeakerFigures } from "./speakers-tables.ts";
import { measureTransformers, type TransformersFigures } from "./transformers-whisper.ts";
import { measureRecordings } from "./whole-recordings.ts";

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
  transformers: { least: 30, most: 150 },
  recordings: { least: 75, most: 240 },
  speakers: { least: 20, most: 60 },
};
/** Number of windows of speech for the real model. */
const WINDOWS = 20;
const LARGE = "large-v3-turbo, random";

const progress = (message: string) => console.error(message);
const never = new AbortController().signal;

const options = {
  cuda: text("PATH", "also measure the CUDA backend with this path, see engine.cuda_library", ""),
  minutes: whole("time limit in minutes", { fallback: 8 }),
  model: text("FILE", "another Whisper model than random weights in the shape of large-v3-turbo", ""),
  onlyBase: flag("leave out the large model, and transformers"),
  slots: wholes("numbers of slots", { least: 2, fallback: SLOTS }),
  lanes: wholes("numbers of operations at once that decode alone", { fallback: LANES }),
  python: text("PROGRAM", "Python that has torch and transformers", "python3"),
  threads: whole("number of CPU threads", { fallback: availableParallelism() }),
  audio: corpusOption,
  json: flag("print the figures as JSON"),
};

export const command = defineCommand({
  name: "scripts/bench gpu",
  about:
    "Measures each GPU within a time limit, the most important figures first: windows of 30 s with random weights in the " +
    "shape of large-v3-turbo (1.7 GB in the system's directory for temporary files) and with Whisper base, with beams of " +
    "5 and greedy, in slots and alone; transformers with the same shape, if Python has it; seven minutes of meetings from " +
    "upload to transcript; and the speaker models on the CPU. What does not fit is reported as skipped. Without a GPU it reports that nothing was measured.",
  options,
  async run({ minutes, json, ...given }) {
    const values = { ...given, cuda: given.cuda === "" ? "" : resolve(given.cuda) };
    if (!isGpuWithinReach()) {
      console.log("SKIPPED: no GPU can be reached here, because /dev has none. Nothing was measured.");
      return;
    }
    const budget = new Budget(minutes, (what) => progress(`SKIPPED: ${what}`));
    using folder = temporaryDirectory();
    const measurement = new GpuMeasurement({ ...values, folder: folder.path, budget });
    const figures = await measurement.run();
    const when = await circumstances(Date.now());
    const { threads } = values;
    if (json) console.log(JSON.stringify({ ...when, threads, ...figures, skipped: budget.skipped }, null, 2));
    else {
      console.log(`${headingOf(when, `${threads} threads`)}:\n`);
      console.log(gpuReport(figures, LARGE) || "Nothing was measured.");
      for (const what of budget.skipped) console.log(`\nSKIPPED: ${what}`);
    }
  },
});

interface Terms extends Omit<Values<typeof options>, "minutes" | "json"> {
  readonly folder: string;
  readonly budget: Budget;
}

/** A GPU with the parts of a task that are the same for all measurements on it. */
interface Device {
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

/** The measurements in their order, and the figures so far. */
class GpuMeasurement {
  readonly #terms: Terms;
  readonly #passes: (MeasuredPasses & { readonly passes: Passes[] })[] = [];
  readonly #recordings: MeasuredRecordings[] = [];
  readonly #speakers: SpeakerFigures[] = [];
  #transformers: TransformersFigures = { about: null, speeds: [], missing: null };

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  async run(): Promise<GpuFigures> {
    const { folder, budget, model, onlyBase } = this.#terms;
    const devices = await this.#devices();
    const { speechModel } = await programFiles("");
    if (devices.length > 0) {
      const base = { name: "base", path: speechModel, windows: await this.#writeWindows() };
      const given = model === "" ? null : { ...base, name: model, path: model };
      const large = onlyBase ? null : (given ?? this.#random(join(folder, "large.bin"), speechModel));
      const subjects = large === null ? [base] : [large, base];
      for (const [index, device] of devices.entries()) {
        const [first = base, ...others] = subjects;
        await this.#inSlots(device, first);
        if (index === 0 && large !== null) await this.#measureTransformers();
        const isFirstOfKind = devices.findIndex(({ kind }) => kind === device.kind) === index;
        if (isFirstOfKind) await this.#measureRecordings(device.kind);
        if (index === 0) await this.#measureSpeakers();
        for (const other of others) await this.#inSlots(device, other);
        for (const subject of subjects) await this.#alone(device, subject);
      }
    } else budget.skip("all measurements: no GPU passed its self-test");
    const { about, speeds } = this.#transformers;
    const [passes, recordings, speakers] = [this.#passes, this.#recordings, this.#speakers];
    return { passes, recordings, speakers, transformers: { about, speeds } };
  }

  /** Returns the GPUs that pass their self-test, those of CUDA first. */
  async #devices(): Promise<Device[]> {
    const { folder, cuda, budget } = this.#terms;
    const files = await programFiles("");
    const { nativeDirectory, speechModel } = files;
    const withSample = <T>(use: (pcmPath: string) => Promise<T>) => withSpeechSample(files, use);
    const verdictsPath = join(folder, "devices.json");
    const selfTest = { command: programCommand("__selftest"), nativeDirectory, verdictsPath, signal: never };
    const { cpuLibrary } = await chooseCpuLibraryFor(selfTest, [speechModel]);
    const found: Device[] = [];
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
  #random(path: string, wordsOf: string): Subject | null {
    const { folder, budget } = this.#terms;
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 2 * RANDOM_WHISPER_BYTES) {
      budget.skip(`the large model: ${tmpdir()} has no space for it`);
      return null;
    }
    progress("writing the large model …");
    writeRandomWhisper(path, wordsOf);
    return { name: LARGE, path, windows: "" };
  }

  /** Writes windows of meetings, or of the bundled speech where the corpus is missing. @returns the path */
  async #writeWindows(): Promise<string> {
    const { audio, folder } = this.#terms;
    const wanted = WINDOWS * WINDOW_SECONDS * SAMPLE_RATE;
    const files = await programFiles("");
    const meetings = existsSync(join(audio, "manifest.json"))
      ? (await readCorpus(audio)).filter(({ group }) => group === "meeting").map(({ file }) => file)
      : [];
    const sources = meetings.length === 0 ? [files.benchRecording] : meetings;
    const parts: Float32Array[] = [];
    for (const file of sources) parts.push(await samplesOf(file));
    const once = new Float32Array(Bun.concatArrayBuffers(parts as Float32Array<ArrayBuffer>[]));
    const path = join(folder, "windows.f32");
    await Bun.write(
      path,
      Float32Array.from({ length: wanted }, (_, at) => once[at % once.length] ?? 0),
    );
    return path;
  }

  async #inSlots(device: Device, subject: Subject): Promise<void> {
    for (const slots of this.#terms.slots) await this.#measurePasses(device, subject, { slots, lanes: [slots] });
  }

  async #alone(device: Device, subject: Subject): Promise<void> {
    await this.#measurePasses(device, subject, { slots: 1, lanes: [...this.#terms.lanes] });
  }

  async #measurePasses(
    { gpu, cpuLibrary }: Device,
    { name, path, windows }: Subject,
    shares: Pick<PassesTask, "slots" | "lanes">,
  ): Promise<void> {
    const { budget, threads } = this.#terms;
    const { nativeDirectory } = await programFiles("");
    let measured = this.#passes.find((each) => each.gpu === gpu.label && each.model === name);
    if (measured === undefined) {
      measured = { gpu: gpu.label, name: gpu.name, model: name, passes: [] };
      this.#passes.push(measured);
    }
    const { passes } = measured;
    const what = `${gpu.label}, ${name}, ${shares.slots > 1 ? `${shares.slots} in slots` : "alone"}`;
    const task = { ...shares, nativeDirectory, cpuLibrary, gpu: gpu.library, model: path, windows, threads };
    await budget.measure(what, SECONDS.passes, (seconds) =>
      measurePasses(
        { ...task, beams: [...BEAMS], minSeconds: MIN_SECONDS },
        {
          ...{ seconds, environment: gpu.environment },
          onLine: (line) => {
            passes.push(line);
            progress(`${what}: ${line.lanes} at once, beam ${line.beams}: ${line.speed.toFixed(1)} × real time`);
          },
        },
      ),
    );
  }

  async #measureTransformers(): Promise<void> {
    const { budget, python } = this.#terms;
    await budget.measure("transformers", SECONDS.transformers, async (seconds) => {
      progress("measuring transformers …");
      this.#transformers = await measureTransformers({ python, tokens: RANDOM_WHISPER_TOKENS, seconds });
      return this.#transformers.missing;
    });
  }

  async #measureRecordings(kind: GpuBackendKind): Promise<void> {
    const { budget, audio, cuda, threads, folder } = this.#terms;
    const library = kind === "cuda" && cuda !== "" ? { TRANSCRIBE_ENGINE_CUDA_LIBRARY: cuda } : {};
    const device = { speechDevice: kind, environment: { TRANSCRIBE_ENGINE_DEVICE: kind, ...library } };
    await budget.measure(`whole recordings, ${kind}`, SECONDS.recordings, async (seconds) => {
      progress(`${kind}: whole recordings …`);
      return await measureRecordings({
        ...{ device, threads, audio, folder, seconds },
        onMeasured: (measured) => {
          this.#recordings.push(measured);
          progress(`${kind}: ${measured.atOnce} whole recordings in ${measured.seconds.toFixed(1)} s`);
        },
      });
    });
  }

  /** Measures speech detection and speaker diarization on all threads, which the GPU may have to wait for. */
  async #measureSpeakers(): Promise<void> {
    const { budget, audio, threads, folder } = this.#terms;
    await budget.measure("speaker models", SECONDS.speakers, async (seconds) => {
      if (!existsSync(join(audio, "manifest.json"))) return `${audio} contains no recordings`;
      progress("measuring the speaker models …");
      const signal = AbortSignal.timeout(1000 * seconds);
      this.#speakers.push(await measureSpeakers("meetings", { audio, folder, workers: threads, signal }));
      return null;
    });
  }
}
