import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../harness/der.ts";
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
import { type Reference, readCorpus, roomMeetings } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { percent } from "../shared/figures.ts";
import { flag, UsageError } from "../shared/options.ts";
import { asMarkdown, asText, headingOf, writeGenerated } from "../shared/table.ts";
import { quickExchanges } from "./quick-exchanges.ts";

type Constant = keyof typeof minSimilarity;

/** A recording whose voices are embedded, so that only the last step remains. */
interface Prepared {
  readonly reference: Reference;
  readonly area: WorkArea;
}

/** The result of a recording with one value of the constant. */
interface Outcome {
  readonly reference: Reference;
  readonly errors: DiarizationErrors | null;
  readonly isCountRight: boolean;
}

/** The sets, in the order of the columns, with a beginning of the paths of their recordings. */
const SETS = ["excerpts", "exchange/tuned", "exchange/apart", "dialogues", "single", "rooms/tuned", "rooms/checked"];

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
    const curve = new Map<number, Outcome[]>();
    for (const value of values) {
      minSimilarity[constant] = value;
      curve.set(value, await clusterAll(prepared));
    }
    const lines = [...curve].map(([value, outcomes]) => [
      String(value),
      ...SETS.map((set) => cellOf(inSet(outcomes, set))),
    ]);
    lines.push([
      "left out",
      cellOf(leaveOneOut([...curve.values()].map((all) => inSet(all, "excerpts")))),
      ...SETS.slice(1).map(() => ""),
    ]);
    const table = { head: [constant, ...SETS], lines };
    console.log(asText(table));
    if (write) {
      writeGenerated(
        "docs/quality.md",
        `scripts/evaluate curve ${constant} --write`,
        `${headingOf(when)}:\n\n${asMarkdown(table)}`,
      );
    }
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

async function clusterAll(prepared: readonly Prepared[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { reference, area } of prepared) {
    const turns = (await cluster(area)).map((turn) => ({ ...turn, speaker: String(turn.speaker) }));
    const found = new Set(turns.map(({ speaker }) => speaker)).size;
    const errors = reference.turns === null ? null : diarizationErrors(reference.turns, turns);
    outcomes.push({ reference, errors, isCountRight: found === reference.speakers });
  }
  return outcomes;
}

function inSet(outcomes: readonly Outcome[], set: string): Outcome[] {
  return outcomes.filter(({ reference: { path, group } }) => {
    if (set.includes("/")) return path.startsWith(set);
    return (
      { excerpts: "meeting", dialogues: "dialogue", single: "single" }[set] === group && !path.startsWith("rooms/")
    );
  });
}

function cellOf(outcomes: readonly Outcome[]): string {
  const right = `${outcomes.filter(({ isCountRight }) => isCountRight).length} of ${outcomes.length}`;
  const errors = outcomes.flatMap((one) => one.errors ?? []);
  if (errors.length === 0) return right;
  const { errorRate, confusion } = errorRates(addErrors(errors));
  return `${percent(errorRate)}, confused ${percent(confusion)}, ${right}`;
}

/** Returns for each recording its outcome with the value that is best for all other recordings together. */
function leaveOneOut(curve: readonly (readonly Outcome[])[]): Outcome[] {
  return (curve[0] ?? []).flatMap((_, left) => {
    const ofOthers = (outcomes: readonly Outcome[]) =>
      errorRates(addErrors(outcomes.flatMap(({ errors }, index) => (index === left ? [] : (errors ?? []))))).errorRate;
    const best = curve.toSorted((a, b) => ofOthers(a) - ofOthers(b))[0];
    return best?.[left] ?? [];
  });
}
