import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { concatenate, type Reference, readCorpus } from "../corpus/index.ts";
import { total } from "../shared/figures.ts";

export interface BenchRecording {
  readonly name: RecordingName;
  readonly file: string;
  readonly seconds: number;
  readonly contents: string;
  /** Reference text; null when it is unknown. */
  readonly text: string | null;
}

export const recordingNameSchema = Type.Union([Type.Literal("meetings"), Type.Literal("dialogues")]);
export type RecordingName = Static<typeof recordingNameSchema>;
export const recordingNames: readonly RecordingName[] = ["meetings", "dialogues"];

/**
 * Numbers of copies that are sent at the same time. Dialogues are sent once, because more copies show nothing new about
 * their words.
 */
export const plan: Readonly<Record<RecordingName, readonly number[]>> = { meetings: [1, 2, 5], dialogues: [1] };

const MAX_SECONDS = 420;

function partsOf(name: RecordingName, corpus: readonly Reference[]) {
  if (name === "dialogues") {
    const parts = fill(corpus.filter(({ group, text, exact }) => group === "dialogue" && exact && text !== null));
    return { contents: `the first ${parts.length} dialogues built from read sentences`, parts };
  }
  const excerpts = corpus.filter(({ group }) => group === "meeting");
  const parts = fill(Array.from({ length: MAX_SECONDS }, () => excerpts).flat());
  return { contents: `${excerpts.length} excerpts of AMI meetings in a row, repeated up to ${parts.length}`, parts };
}

/** Returns the first recordings that fit into the length. */
function fill(parts: readonly Reference[]): Reference[] {
  let seconds = 0;
  const first = parts.findIndex(({ durationSeconds }) => {
    seconds += durationSeconds;
    return seconds > MAX_SECONDS;
  });
  return parts.slice(0, first < 0 ? parts.length : first);
}

/** Creates a recording from the corpus as FLAC. @param directory folder of its file */
export async function makeRecording(name: RecordingName, audio: string, directory: string): Promise<BenchRecording> {
  const { contents, parts } = partsOf(name, await readCorpus(audio));
  const file = join(directory, `${name}.flac`);
  await concatenate(
    parts.map((part) => part.file),
    file,
  );
  const texts = parts.map(({ text }) => text);
  return {
    ...{ name, file, contents },
    seconds: total(parts, ({ durationSeconds }) => durationSeconds),
    text: texts.some((text) => text === null) ? null : texts.join(" "),
  };
}
