import { resolve } from "node:path";
import { audioDirectory } from "../../../test/speech/diarization/recording.ts";
import { softwareGpu } from "../../../test/support/software-gpu.ts";
import { circumstances } from "../circumstances.ts";
import { CommandError } from "../run-command.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { type Difference, differenceOf, type HeardTwice, shareOfEqual } from "./compare-devices.ts";
import { readCorpus } from "./corpus.ts";
import { type Device, hearOnDevice } from "./hear-on-device.ts";
import { KeptTexts } from "./kept-texts.ts";
import { type Rate, sum } from "./measure-words.ts";
import { Scorer } from "./scorer.ts";

const usage = `Words that a GPU hears beside the CPU's: scripts/evaluate devices [OPTION…] [NAME…]
Sends the recordings of single/ to two servers of this checkout, the shortest first, and fails where fewer than 99 % of
the words are the same. NAMEs choose recordings whose path contains one of them.

  --gpu WHICH        software (Mesa's device, which a CPU plays: an hour and more), vulkan, or CUDA's library by its path
  --keep FILE        what is heard is kept there as it comes; started again, it goes on from there
  --json FILE        the figures, with what was said and heard
  --audio DIRECTORY  another corpus of the same form`;

const options = {
  gpu: { type: "string", default: "software" },
  keep: { type: "string" },
  json: { type: "string" },
  audio: { type: "string", default: audioDirectory },
} as const;

/** What the devices have to have in common. */
const leastEqual = 0.99;

const cpu: Device = { speechDevice: "cpu", environment: { TRANSCRIBE_ENGINE_DEVICE: "cpu" } };

try {
  await compare(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  refuse(error.message, 1);
}

async function compare(args: string[]): Promise<void> {
  const { values, names } = readCommandLine(args, options, usage);
  requireCorpus(values.audio);
  const corpus = await readCorpus(values.audio);
  const isChosen = (path: string) => names.length === 0 || names.some((name) => path.includes(name));
  const chosen = corpus
    .filter(({ group, path }) => group === "single" && isChosen(path))
    .toSorted((one, other) => one.durationSeconds - other.durationSeconds);
  if (chosen.length === 0) refuse("no recording of single/ has such a name", 1);
  const made = await circumstances(Date.now());
  const texts = new KeptTexts(values.keep ?? null, `${made.commit} with the GPU ${values.gpu}`);

  for (const device of ["cpu", "gpu"] as const) {
    const left = chosen.filter(({ path }) => texts.get(device, path) === undefined);
    if (left.length === 0) continue;
    await hearOnDevice(device === "cpu" ? cpu : await gpuOf(values.gpu), corpus, left, ({ path }, text) => {
      texts.add(device, path, text);
      if (process.stderr.isTTY) console.error(`${device} ${path}`);
    });
  }

  const heard = chosen.map(({ path, language, text }): HeardTwice => {
    const by = (device: "cpu" | "gpu") => texts.get(device, path) ?? "";
    return { path, language, said: text ?? "", cpu: by("cpu"), gpu: by("gpu") };
  });
  const scorer = await Scorer.install();
  const normalise = await scorer.normalise(
    heard.flatMap(({ language, said, cpu, gpu }) => [said, cpu, gpu].map((text) => [language, text] as const)),
  );
  const results = heard.map((one) => ({ ...one, ...differenceOf(normalise, one) }));
  const all: Difference = {
    apart: sum(results.map(({ apart }) => apart)),
    cpu: sum(results.map(({ cpu }) => cpu)),
    gpu: sum(results.map(({ gpu }) => gpu)),
  };
  for (const { path, ...difference } of [...results, { path: `all ${results.length}`, ...all }]) {
    console.log(lineOf(path, difference));
  }
  if (values.json !== undefined) {
    await Bun.write(values.json, `${JSON.stringify({ ...made, gpu: values.gpu, all, results }, null, 2)}\n`);
  }
  if (shareOfEqual(all.apart) < leastEqual) refuse(`less than ${percent(leastEqual)} of the words are the same`, 1);
}

async function gpuOf(which: string): Promise<Device> {
  if (which !== "software" && which !== "vulkan") {
    const environment = { TRANSCRIBE_ENGINE_DEVICE: "cuda", TRANSCRIBE_ENGINE_CUDA_LIBRARY: resolve(which) };
    return { speechDevice: "cuda", environment };
  }
  const drivers = which === "software" ? await softwareGpu("the words of a GPU") : {};
  if (drivers === null) throw new CommandError("without that device there is nothing to compare with");
  return { speechDevice: "vulkan", environment: { TRANSCRIBE_ENGINE_DEVICE: "vulkan", ...drivers } };
}

function lineOf(name: string, { apart, ...wrong }: Difference): string {
  const equal = `${percent(shareOfEqual(apart))} equal (${apart.errors} of ${apart.length} differ)`;
  const rates = [`${wrongIn(wrong.cpu)} wrong on the CPU`, `${wrongIn(wrong.gpu)} on the GPU`];
  return `${name}: ${equal}, ${rates.join(", ")}`;
}

function wrongIn({ errors, length }: Rate): string {
  return `${percent(length === 0 ? 0 : errors / length)} (${errors} of ${length})`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
