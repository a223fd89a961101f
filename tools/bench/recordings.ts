import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { type Reference, readCorpus } from "../evaluate/corpus.ts";
import { concatenate } from "../evaluate/made-recordings.ts";

/** A recording for all competitors. */
export interface BenchRecording {
  readonly name: RecordingName;
  readonly file: string;
  readonly seconds: number;
  /** Description of its contents. */
  readonly contents: string;
  /** Reference text; null when it is unknown. */
  readonly text: string | null;
}

export const recordingNameSchema = Type.Union([Type.Literal("meetings"), Type.Literal("dialogues")]);
export type RecordingName = Static<typeof recordingNameSchema>;

/**
 * Numbers of copies that are sent at the same time. Dialogues are sent once, because more copies show nothing new about
 * their words.
 */
export const plan: Readonly<Record<RecordingName, readonly number[]>> = { meetings: [1, 2, 5], dialogues: [1] };

const wholeSeconds = 420;

interface Making {
  readonly contents: string;
  readonly parts: readonly Reference[];
}

const makers: Readonly<Record<RecordingName, (corpus: readonly Reference[]) => Making>> = {
  meetings(corpus) {
    const excerpts = corpus.filter(({ group }) => group === "meeting");
    const parts = fill(Array.from({ length: wholeSeconds }, () => excerpts).flat());
    return {
      contents: `${excerpts.length} excerpts of AMI meetings in a row, repeated up to ${parts.length}`,
      parts,
    };
  },
  dialogues(corpus) {
    const parts = fill(corpus.filter(({ group, text, exact }) => group === "dialogue" && exact && text !== null));
    return { contents: `the first ${parts.length} dialogues built from read sentences`, parts };
  },
};

/** Returns the first recordings that fit into the length. */
function fill(parts: readonly Reference[]): Reference[] {
  let seconds = 0;
  const first = parts.findIndex(({ durationSeconds }) => {
    seconds += durationSeconds;
    return seconds > wholeSeconds;
  });
  return parts.slice(0, first < 0 ? parts.length : first);
}

/** Creates a recording from the corpus as FLAC. @param directory folder of its file */
export async function makeRecording(name: RecordingName, audio: string, directory: string): Promise<BenchRecording> {
  const { contents, parts } = makers[name](await readCorpus(audio));
  const file = join(directory, `${name}.flac`);
  const files = parts.map((part) => part.file);
  await concatenate(files, file);
  const texts = parts.map(({ text }) => text);
  return {
    ...{ name, file, contents },
    seconds: parts.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0),
    text: texts.some((text) => text === null) ? null : texts.join(" "),
  };
}
