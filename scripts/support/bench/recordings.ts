import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { type Reference, readCorpus } from "../evaluate/corpus.ts";
import { concatenate } from "../evaluate/made-recordings.ts";

/** A recording that all competitors are given. */
export interface BenchRecording {
  readonly name: RecordingName;
  readonly file: string;
  readonly seconds: number;
  /** What it is made of, in words. */
  readonly contents: string;
  /** What is said in it; null where nobody wrote that down. */
  readonly text: string | null;
}

export const recordingNameSchema = Type.Union([Type.Literal("meetings"), Type.Literal("dialogues")]);
export type RecordingName = Static<typeof recordingNameSchema>;

/** How often at once each is sent: words are told once, nothing is learnt of them with more. */
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
      contents: `${excerpts.length} excerpts of AMI meetings in a row, begun again till there are ${parts.length}`,
      parts,
    };
  },
  dialogues(corpus) {
    const parts = fill(corpus.filter(({ group, text, exact }) => group === "dialogue" && exact && text !== null));
    return { contents: `the first ${parts.length} dialogues that were built of read sentences`, parts };
  },
};

/** The first ones that fit in. */
function fill(parts: readonly Reference[]): Reference[] {
  let seconds = 0;
  const first = parts.findIndex(({ durationSeconds }) => {
    seconds += durationSeconds;
    return seconds > wholeSeconds;
  });
  return parts.slice(0, first < 0 ? parts.length : first);
}

/** Makes a recording of the corpus, as FLAC. @param directory where its file goes */
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
