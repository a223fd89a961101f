import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpu, type Device, gpuOf } from "../../harness/device.ts";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { circumstances } from "../shared/circumstances.ts";
import { beforeStop } from "../shared/processes.ts";
import { CommandError } from "../shared/run-command.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { type DeviceTranscripts, type Difference, differenceOf, equalShare, StoredTexts } from "./compare-devices.ts";
import { type Reference, readCorpus } from "./corpus.ts";
import { EvaluationServer, textOf, warmUp } from "./evaluation-server.ts";
import { type Rate, sum } from "./measure-words.ts";
import { Scorer } from "./scorer.ts";

const usage = `Compares the words recognized on a GPU with those on the CPU: scripts/evaluate devices [OPTION…] [NAME…]
Sends the recordings of single/ to two servers of this checkout, the shortest first. Fails when fewer than 99 % of the
words are equal. A NAME selects the recordings whose path contains it.

  --gpu WHICH        software (Mesa's device on the CPU: more than an hour), vulkan, or the path of CUDA's library
  --keep FILE        store each transcript in FILE; a later run with the same FILE continues from there
  --json FILE        write the figures with references and transcripts to FILE
  --audio DIRECTORY  use another corpus in the same format`;

const options = {
  gpu: { type: "string", default: "software" },
  keep: { type: "string" },
  json: { type: "string" },
  audio: { type: "string", default: audioDirectory },
} as const;

/** Smallest share of words that must be equal on both devices. */
const MIN_EQUAL_SHARE = 0.99;
/** Time limit of a start, which includes the self-test of a GPU, and of a recording. A GPU in software takes minutes. */
const TIMEOUT_MILLISECONDS = 3_600_000;

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
  const texts = new StoredTexts(values.keep ?? null, `${made.commit} with the GPU ${values.gpu}`);

  for (const device of ["cpu", "gpu"] as const) {
    const missing = chosen.filter(({ path }) => texts.get(device, path) === undefined);
    if (missing.length === 0) continue;
    await transcribeOnDevice(device === "cpu" ? cpu : await gpuOf(values.gpu), corpus, missing, ({ path }, text) => {
      texts.add(device, path, text);
      if (process.stderr.isTTY) console.error(`${device} ${path}`);
    });
  }

  const transcripts = chosen.map(({ path, language, text }): DeviceTranscripts => {
    const by = (device: "cpu" | "gpu") => texts.get(device, path) ?? "";
    return { path, language, referenceText: text ?? "", cpu: by("cpu"), gpu: by("gpu") };
  });
  const scorer = await Scorer.install();
  const normalise = await scorer.normalise(
    transcripts.flatMap(({ language, referenceText, cpu, gpu }) =>
      [referenceText, cpu, gpu].map((text) => [language, text] as const),
    ),
  );
  const results = transcripts.map((each) => ({ ...each, ...differenceOf(normalise, each) }));
  const all: Difference = {
    differing: sum(results.map(({ differing }) => differing)),
    cpu: sum(results.map(({ cpu }) => cpu)),
    gpu: sum(results.map(({ gpu }) => gpu)),
  };
  for (const { path, ...difference } of [...results, { path: `all ${results.length}`, ...all }]) {
    console.log(lineOf(path, difference));
  }
  if (values.json !== undefined) {
    await Bun.write(values.json, `${JSON.stringify({ ...made, gpu: values.gpu, all, results }, null, 2)}\n`);
  }
  if (equalShare(all.differing) < MIN_EQUAL_SHARE) {
    refuse(`less than ${percent(MIN_EQUAL_SHARE)} of the words are equal`, 1);
  }
}

/**
 * Transcribes recordings one after another with a server on one device.
 * @param corpus source of the warm-up recording, with which the CPU's fastest encoder is chosen
 * @param onText receives each recording and its transcript
 * @throws {CommandError} when the server uses another device, from the start or after a failure
 */
async function transcribeOnDevice(
  { speechDevice, environment }: Device,
  corpus: readonly Reference[],
  recordings: readonly Reference[],
  onText: (recording: Reference, text: string) => void,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  await using resources = new AsyncDisposableStack();
  using _stop = beforeStop(() => resources.disposeAsync());
  resources.defer(() => rm(directory, { recursive: true }));
  const server = resources.use(new EvaluationServer(environment, TIMEOUT_MILLISECONDS));
  const requireDevice = () => {
    if (server.speechDevice === speechDevice) return;
    const reason = server.problems() || "transcribe doctor shows the state of the GPUs";
    throw new CommandError(`the server uses ${server.speechDevice}, not ${speechDevice}; ${reason}`);
  };
  await server.start();
  requireDevice();
  if (speechDevice === "cpu") await warmUp(server, corpus, directory);
  for (const recording of recordings) {
    const hypothesis = await server.transcribe(recording.file);
    requireDevice();
    onText(recording, textOf(hypothesis));
  }
}

function lineOf(name: string, { differing, ...wrong }: Difference): string {
  const equal = `${percent(equalShare(differing))} equal (${differing.errors} of ${differing.length} differ)`;
  const rates = [`${wrongIn(wrong.cpu)} wrong on the CPU`, `${wrongIn(wrong.gpu)} on the GPU`];
  return `${name}: ${equal}, ${rates.join(", ")}`;
}

function wrongIn({ errors, length }: Rate): string {
  return `${percent(length === 0 ? 0 : errors / length)} (${errors} of ${length})`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
