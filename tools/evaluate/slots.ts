import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { root } from "../../harness/checkout.ts";
import { softwareGpu } from "../../harness/software-gpu.ts";
import { wordErrors } from "../../harness/wer.ts";
import { loadGgml } from "../../src/runtimes/index.ts";
import { openModel, type WhisperModel } from "../../src/speech/recognizer/whisper/index.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { corpusOption, type Reference, readSelected, samplesOf } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { percent, timed, total } from "../shared/figures.ts";
import { flag, text, whole } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";

/** Smallest share of words that must be equal with and without slots. */
const MIN_EQUAL_SHARE = 0.995;
/** Length of a window, as planned chunks have. A shorter rest is left out. */
const WINDOW_SAMPLES = 28 * SAMPLE_RATE;
const MIN_WINDOW_SAMPLES = 5 * SAMPLE_RATE;

interface Window {
  readonly file: string;
  readonly language: string;
  readonly samples: Float32Array;
}

export const command = defineCommand({
  name: "scripts/evaluate slots",
  about:
    "Compares Whisper's texts that are decoded together, each in a slot, with those of one state alone. Recognizes windows " +
    "of the dialogues and meetings, or of the recordings whose path contains a NAME. Prints the speed, the graphs, the " +
    "rows of texts and the bytes of weights for each minute of audio, and the texts that differ. Fails when fewer than " +
    "99.5 % of the words are equal.",
  names: "NAME",
  options: {
    slots: whole("number of windows at once", { fallback: 4 }),
    separate: flag("let them decode alone"),
    minutes: whole("amount of audio", { fallback: 5 }),
    greedy: flag("follow one text instead of five"),
    model: text("FILE", "another model than base", join(root, "build/models/ggml-base.bin")),
    gpu: text(
      "WHICH",
      "software (Mesa's device on the CPU), vulkan, or the path of CUDA's library; the CPU by default",
    ),
    audio: corpusOption,
  },
  async run({ slots, separate, minutes, greedy, model, gpu, audio }, names) {
    if (gpu === "software") process.exit(await runWithSoftwareGpu());
    const library = gpu === "vulkan" ? "libggml-vulkan.so" : resolve(gpu ?? "");
    const runtime = loadGgml({ nativeDirectory: join(root, "build/native"), gpu: gpu === null ? [] : [library] });
    const isLong = ({ group }: Reference) => names.length > 0 || group === "dialogue" || group === "meeting";
    const { chosen } = await readSelected({ audio, names }, "recording", isLong);
    const windows = await readWindows(chosen, minutes * 60 * SAMPLE_RATE);
    const open = (count: number) => openModel(runtime, model, gpu !== null, count);
    const alone = await recognize(withoutFreeSlot(open), windows, { count: 1, greedy, kind: "separate" });
    const kind = separate || slots === 1 ? "separate" : "in slots";
    const together = await recognize(separate ? withoutFreeSlot(open) : open(slots), windows, {
      count: slots,
      greedy,
      kind,
    });
    const counts = alone.map((one, index) => wordErrors(one, together[index] ?? ""));
    for (const [index, { file }] of windows.entries()) {
      if (alone[index] === together[index]) continue;
      console.log(`${file}\n  separate: ${alone[index]?.trim()}\n  together: ${together[index]?.trim()}`);
    }
    const differing = total(
      counts,
      ({ substitutions, deletions, insertions }) => substitutions + deletions + insertions,
    );
    const length = total(counts, (count) => count.length);
    console.log(`${percent(1 - differing / length, 2)} equal (${differing} of ${length} differ)`);
    if (differing > (1 - MIN_EQUAL_SHARE) * length) {
      throw new CommandError(`less than ${percent(MIN_EQUAL_SHARE)} of the words are equal`);
    }
    // Drivers of a GPU keep the process alive.
    process.exit();
  },
});

/**
 * Opens a model whose states decode alone, because others have its slots. On a CPU a model without slots would have
 * weights in 8 bits, and other words.
 */
function withoutFreeSlot(open: (slots: number) => WhisperModel): WhisperModel {
  const model = open(2);
  for (let slot = 0; slot < 2; slot++) model.createState();
  return model;
}

/** Runs this command in a process with Mesa's driver: only the environment of a process's start names drivers. */
async function runWithSoftwareGpu(): Promise<number> {
  const drivers = await softwareGpu("slots");
  if (drivers === null) throw new CommandError("the software GPU is not available");
  const child = Bun.spawn(
    process.argv.map((argument) => argument.replace(/^(--gpu=)?software$/, "$1vulkan")),
    { env: { ...process.env, ...drivers }, stdio: ["ignore", "inherit", "inherit"] },
  );
  return await child.exited;
}

/** Recognizes all windows with some states at once and prints what it took. @returns their texts */
async function recognize(
  model: WhisperModel,
  windows: readonly Window[],
  { count, greedy, kind }: { readonly count: number; readonly greedy: boolean; readonly kind: string },
): Promise<string[]> {
  const texts: string[] = [];
  const waiting = windows.entries();
  const threads = Math.max(1, Math.floor(availableParallelism() / count));
  const pass = { beamSize: greedy ? 1 : 5, withoutTimestamps: true, suppressNonSpeech: true } as const;
  const work = async () => {
    const state = model.createState();
    for (const [index, { language, samples }] of waiting) {
      const { segments } = await state.transcribe(samples, { ...pass, language, threads, temperatureIncrement: 0 });
      texts[index] = segments.map((segment) => segment.text).join(" ");
    }
    state.dispose();
  };
  const { seconds } = await timed(() => Promise.all(Array.from({ length: count }, work)));
  const { graphs, weightBytes, windows: encoded, steps, passes } = model.work();
  model.dispose();
  const minutes = total(windows, ({ samples }) => samples.length) / SAMPLE_RATE / 60;
  const speed = `${count} at once, ${kind}: ${((60 * minutes) / seconds).toFixed(1)} times real time`;
  const weights = `${(weightBytes / minutes / 1e9).toFixed(2)} GB of weights a minute of audio`;
  console.log(`${speed}, ${(graphs / minutes).toFixed(0)} graphs and ${weights}`);
  for (const [name, { graphs: built, evaluated, items }] of Object.entries({
    windows: encoded,
    rows: steps,
    texts: passes,
  })) {
    if (evaluated === 0) continue;
    const each = `${(items / evaluated).toFixed(1)} at a time`;
    console.log(
      `  ${(items / minutes).toFixed(0)} ${name} a minute, ${each}: ${evaluated} evaluations of ${built} graphs`,
    );
  }
  return texts;
}

async function readWindows(chosen: readonly Reference[], wantedSamples: number): Promise<Window[]> {
  const found: Window[] = [];
  let left = wantedSamples;
  for (const { file, language } of chosen) {
    const all = left > 0 ? await samplesOf(file) : new Float32Array();
    for (let first = 0; first < all.length && left > 0; first += WINDOW_SAMPLES) {
      const samples = all.slice(first, first + Math.min(WINDOW_SAMPLES, left));
      if (samples.length < MIN_WINDOW_SAMPLES) continue;
      found.push({ file, language, samples });
      left -= samples.length;
    }
  }
  return found;
}
