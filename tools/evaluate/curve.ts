import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { diarizationErrors } from "../../harness/der.ts";
import {
  audioDirectory,
  cluster,
  decode,
  embedVoices,
  minSimilarity,
  openModels,
} from "../../harness/diarized-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { WorkArea } from "../../src/timeline/index.ts";
import { type Group, type Reference, readCorpus, roomMeetings } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { percent } from "../shared/figures.ts";
import { flag, UsageError } from "../shared/options.ts";
import { quickExchanges } from "./quick-exchanges.ts";
import { showTable } from "./report.ts";
import { namedTurns, type SpeakerResult, speakerResult, summarize } from "./speakers.ts";

type Constant = keyof typeof minSimilarity;

/** A recording whose voices are embedded, so that only the last step remains. */
interface Prepared {
  readonly reference: Reference;
  readonly area: WorkArea;
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
} as const satisfies Record<string, { readonly group: Group } | { readonly path: string }>;
type SetName = keyof typeof SETS;
const setNames = Object.keys(SETS) as SetName[];

export const command = defineCommand({
  name: "scripts/evaluate curve",
  about:
    "Measures the diarization alone with several values of a constant: the first name is one of minSimilarity in " +
    "src/speech/diarization/similarity.ts, the others are its values. The last line chooses a value for each excerpt of " +
    "a meeting by the other excerpts. Takes a quarter of an hour.",
  names: "NAME",
  options: { write: flag("store the curve in docs/quality.md, which must have a place for it") },
  async run({ write }, [name = "", ...given]) {
    if (!Object.hasOwn(minSimilarity, name)) {
      throw new UsageError(
        `${name || "nothing"} is no constant; the constants are ${Object.keys(minSimilarity).join(", ")}`,
      );
    }
    const constant = name as Constant;
    const values = given.map(Number);
    if (values.length === 0 || values.some(Number.isNaN))
      throw new UsageError("name the values of the constant: 0.4 0.5");
    const when = await circumstances(Date.now());
    using folder = temporaryDirectory();
    const prepared = await prepare(folder.path);
    const curve: SpeakerResult[][] = [];
    for (const value of values) {
      minSimilarity[constant] = value;
      curve.push(await clusterAll(prepared));
    }
    const lines = curve.map((results, index) => [
      String(values[index]),
      ...setNames.map((set) => cellOf(inSet(results, set))),
    ]);
    const leftOut = cellOf(leaveOneOut(curve.map((results) => inSet(results, "excerpts"))));
    lines.push(["left out", leftOut, ...setNames.slice(1).map(() => "")]);
    showTable({ head: [constant, ...setNames], lines }, when, write ? `scripts/evaluate curve ${constant}` : null);
  },
});

/** Runs all steps but the last one. */
async function prepare(folder: string): Promise<Prepared[]> {
  const made = join(folder, "made");
  await mkdir(made);
  const recordings = [
    ...(await readCorpus(audioDirectory)).filter(({ turns, group }) => turns !== null || group === "single"),
    ...(await quickExchanges(audioDirectory, made, () => true)),
    ...(await roomMeetings("tuned")),
    ...(await roomMeetings("checked")),
  ];
  const models = await openModels();
  const prepared: Prepared[] = [];
  for (const [index, reference] of recordings.entries()) {
    const directory = join(folder, String(index));
    await mkdir(directory);
    const area = { directory, pcm: await decode(reference.file, join(directory, "pcm")) };
    await embedVoices(models, area);
    prepared.push({ reference, area });
  }
  await models.dispose();
  return prepared;
}

async function clusterAll(prepared: readonly Prepared[]): Promise<SpeakerResult[]> {
  const results: SpeakerResult[] = [];
  for (const { reference, area } of prepared) {
    results.push(speakerResult({ reference, turns: namedTurns(await cluster(area)) }, diarizationErrors));
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
