import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { diarizationErrors } from "../../harness/der.ts";
import { audioDirectory, decode, diarizationConstants, diarize, openModels } from "../../harness/diarized-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { PcmFile } from "../../src/timeline/index.ts";
import { type Group, type Reference, readCorpus, roomMeetings } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { percent } from "../shared/figures.ts";
import { flag, UsageError } from "../shared/options.ts";
import type { Table } from "../shared/table.ts";
import { quickExchanges } from "./quick-exchanges.ts";
import { rememberResults } from "./remembered-models.ts";
import { showTable } from "./report.ts";
import { namedTurns, type SpeakerResult, speakerResult, summarize } from "./speakers.ts";

/** A recording with its samples. */
interface Decoded {
  readonly reference: Reference;
  readonly pcm: PcmFile;
}

/** The sets, in the order of the columns: a group, or the beginning of the paths of its recordings. */
const SETS = {
  excerpts: { group: "meeting" },
  "exchange/tuned": { path: "exchange/tuned" },
  "exchange/apart": { path: "exchange/apart" },
  dialogues: { group: "dialogue" },
  single: { group: "single" },
  "rooms/tuned": { path: "rooms/tuned" },
  "rooms/checked": { path: "rooms/checked" },
  "rooms/quiet": { path: "rooms/quiet" },
} as const satisfies Record<string, { readonly group: Group } | { readonly path: string }>;
type SetName = keyof typeof SETS;
const setNames = Object.keys(SETS) as SetName[];

/** The curves of docs/quality.md: constants with their values. */
const CURVES: Readonly<Record<string, readonly number[]>> = {
  ofSpeakers: [0.4, 0.43, 0.45, 0.46, 0.47, 0.5, 0.53],
  quietPauseSeconds: [0.8, 1, 1.2, 1.3, 1.4, 1.5],
  minFallDecibels: [0, 11, 13, 15, 17, 19, 22, 100],
  fallPart: [0.9, 0.95, 0.98, 0.99],
};

/** One constant of the diarization with the values to measure. */
interface Curve {
  readonly name: string;
  readonly constants: Record<string, number>;
  readonly values: readonly number[];
}

export const command = defineCommand({
  name: "scripts/evaluate curve",
  about:
    "Measures the diarization alone with several values of a constant: NAME=0.4,0.5 is a constant of " +
    "harness/diarized-recording.ts with its values, NAME alone a curve of docs/quality.md. Without a NAME, all these " +
    "curves are measured. The last line of a curve chooses a value for each excerpt of a meeting by the other excerpts. " +
    "Takes a quarter of an hour, and half a minute more for each value.",
  names: "NAME",
  options: { write: flag("store the curves in docs/quality.md, which must have a place for each") },
  async run({ write }, names) {
    const curves = (names.length === 0 ? Object.keys(CURVES) : names).map(curveOf);
    const when = await circumstances(Date.now());
    using folder = temporaryDirectory();
    const recordings = await decodeAll(folder.path);
    const models = rememberResults(await openModels());
    for (const curve of curves) {
      const table = await measure(curve, () => diarizeAll(models, recordings));
      showTable(table, when, write ? `scripts/evaluate curve ${curve.name}` : null);
    }
    await models.dispose();
  },
});

function curveOf(text: string): Curve {
  const [name = "", given] = text.split("=");
  const constants = diarizationConstants.find((some) => Object.hasOwn(some, name));
  if (constants === undefined) {
    const names = diarizationConstants.flatMap(Object.keys);
    throw new UsageError(`${name} is no constant; the constants are ${names.join(", ")}`);
  }
  const values = given === undefined ? CURVES[name] : given.split(",").map(Number.parseFloat);
  if (values === undefined || values.some(Number.isNaN)) {
    throw new UsageError(`${text} has no values; name them: ${name}=0.4,0.5`);
  }
  return { name, constants, values };
}

/** Measures all recordings with each value, and restores the constant. */
async function measure({ name, constants, values }: Curve, diarized: () => Promise<SpeakerResult[]>): Promise<Table> {
  const before = constants[name] ?? 0;
  const results: SpeakerResult[][] = [];
  for (const value of values) {
    constants[name] = value;
    results.push(await diarized());
  }
  constants[name] = before;
  const lines = results.map((ofValue, index) => [
    `${values[index]}${values[index] === before ? ", in use" : ""}`,
    ...setNames.map((set) => cellOf(inSet(ofValue, set))),
  ]);
  const leftOut = cellOf(leaveOneOut(results.map((ofValue) => inSet(ofValue, "excerpts"))));
  return { head: [name, ...setNames], lines: [...lines, ["left out", leftOut, ...setNames.slice(1).map(() => "")]] };
}

async function decodeAll(folder: string): Promise<Decoded[]> {
  const made = join(folder, "made");
  await mkdir(made);
  const references = [
    ...(await readCorpus(audioDirectory)).filter(({ turns, group }) => turns !== null || group === "single"),
    ...(await quickExchanges(audioDirectory, made, () => true)),
    ...(await roomMeetings("tuned")),
    ...(await roomMeetings("checked")),
    ...(await roomMeetings("quiet")),
  ];
  const decoded: Decoded[] = [];
  for (const [index, reference] of references.entries()) {
    decoded.push({ reference, pcm: await decode(reference.file, join(folder, `${index}.pcm`)) });
  }
  return decoded;
}

async function diarizeAll(
  models: Parameters<typeof diarize>[0],
  recordings: readonly Decoded[],
): Promise<SpeakerResult[]> {
  const results: SpeakerResult[] = [];
  for (const { reference, pcm } of recordings) {
    const { turns } = await diarize(models, pcm);
    results.push(speakerResult({ reference, turns: namedTurns(turns) }, diarizationErrors));
  }
  return results;
}

function inSet(results: readonly SpeakerResult[], name: SetName): SpeakerResult[] {
  const set = SETS[name];
  return results.filter(({ path, group }) => ("path" in set ? path.startsWith(set.path) : group === set.group));
}

function cellOf(results: readonly SpeakerResult[]): string {
  const { errorRate, confusion, countsRight, files } = summarize(results);
  const right = `${countsRight} of ${files}`;
  if (results.every(({ errors }) => errors === null)) return right;
  return `${percent(errorRate)}, confused ${percent(confusion)}, ${right}`;
}

/** Returns for each recording its result with the value that is best for all other recordings together. */
function leaveOneOut(curve: readonly (readonly SpeakerResult[])[]): SpeakerResult[] {
  return (curve[0] ?? []).flatMap((_, left) => {
    const ofOthers = (results: readonly SpeakerResult[]) => summarize(results.toSpliced(left, 1)).errorRate;
    const best = curve.toSorted((a, b) => ofOthers(a) - ofOthers(b))[0];
    return best?.[left] ?? [];
  });
}
