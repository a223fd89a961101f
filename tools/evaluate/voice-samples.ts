import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { decode, diarize, openModels } from "../../harness/diarized-recording.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Span, sharedSeconds } from "../../src/timeline/index.ts";
import type { Reference } from "../corpus/index.ts";

/** A recording of people who are known, as far as they can be. */
interface VoiceSource {
  readonly name: string;
  readonly file: string;
  /** The person who speaks in a span; null if it is unknown. */
  readonly personIn: (span: Span) => string | null;
  /** Name of a set of recordings whose people may be the same ones, although their names differ; null for none. */
  readonly kin: string | null;
  /** The sentences of a person, so that a voice is not compared with the same utterance. */
  readonly texts: (person: string) => readonly string[];
}

export interface VoiceSample {
  readonly person: string;
  readonly kin: string | null;
  readonly source: string;
  readonly texts: readonly string[];
  readonly seconds: number;
  readonly embedding: Float32Array;
}

/** The voices that were found in a recording under one condition. */
export interface SampledRecording {
  readonly source: string;
  readonly condition: string;
  readonly samples: readonly VoiceSample[];
}

interface Condition {
  readonly name: string;
  readonly filters: string;
  /** Ending and options of a file into which the filtered sound is encoded first; null for none. */
  readonly codec: readonly [ending: string, ...options: string[]] | null;
}

/** Ways in which a recording reaches the server: as it is, and one other way for each, in turns. */
const original: Condition = { name: "original", filters: "anull", codec: null };
const others: readonly Condition[] = [
  {
    name: "telephone",
    filters: "highpass=f=300,lowpass=f=3400,aresample=8000",
    codec: ["wav", "-c:a", "pcm_mulaw", "-ar", "8000", "-ac", "1"],
  },
  { name: "Opus, 12 kbit/s", filters: "anull", codec: ["ogg", "-c:a", "libopus", "-b:a", "12k", "-ac", "1"] },
  { name: "noise", filters: "aeval=exprs='val(0)+0.02*(random(0)-0.5)':c=same", codec: null },
  { name: "room", filters: "aecho=0.8:0.7:23|41|67:0.35|0.25|0.2", codec: null },
];

/** Returns the recordings of the corpus with known speakers, or one speaker. */
export function sourcesOf(corpus: readonly Reference[]): VoiceSource[] {
  return corpus.flatMap(({ path, file, group, turns, spoken, text, speakers }): VoiceSource[] => {
    if (group === "single") {
      const { person, kin } = singlePerson(path);
      return [{ name: path, file, personIn: () => person, kin, texts: () => (text === null ? [path] : [text]) }];
    }
    if (turns === null || speakers < 2) return [];
    return [
      {
        name: path,
        file,
        personIn: (span) => longestOverlap(turns, span),
        kin: null,
        texts: (person) => spoken?.filter(({ speaker }) => speaker === person).map((turn) => turn.text) ?? [path],
      },
    ];
  });
}

/** Returns the speaker of a recording of single/ by its name. The people of FLEURS have no names. */
function singlePerson(path: string): { readonly person: string; readonly kin: string | null } {
  const name = basename(path).replace(/\.\w+$/, "");
  const [, reader] = /^en-libri-(\d+)-/.exec(name) ?? [];
  if (reader !== undefined) return { person: `spk${reader}`, kin: null };
  const [, set] = /^(\w\w-(?:sonar-)?(?:fleurs|mfa|lj|cv))/.exec(name) ?? [];
  return { person: name, kin: set?.replace("sonar-", "") ?? null };
}

function longestOverlap(turns: readonly (Span & { readonly speaker: string })[], span: Span): string | null {
  return longest(turns, (turn) => [turn.speaker, sharedSeconds(turn, span)]);
}

/** Returns the name with the most seconds over all parts; null if none has any. */
function longest<T>(parts: readonly T[], read: (part: T) => readonly [name: string | null, seconds: number]) {
  const sums = new Map<string, number>();
  for (const [name, seconds] of parts.map(read)) {
    if (name !== null && seconds > 0) sums.set(name, (sums.get(name) ?? 0) + seconds);
  }
  return [...sums].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}

/** Returns the recordings of a folder with a folder for each person. */
export function sourcesIn(directory: string): VoiceSource[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: person }) =>
      readdirSync(join(directory, person)).map((file): VoiceSource => {
        const name = `${person}/${file}`;
        return { name, file: join(directory, name), personIn: () => person, kin: null, texts: () => [name] };
      }),
    );
}

/** Finds the voices of recordings, as they are and under another condition. @param say receives each recording's name */
export async function sampleVoices(
  sources: readonly VoiceSource[],
  say: (name: string) => void,
): Promise<SampledRecording[]> {
  const models = await openModels();
  using folder = temporaryDirectory();
  const recordings: SampledRecording[] = [];
  try {
    for (const [index, source] of sources.entries()) {
      say(source.name);
      for (const condition of [original, others[index % others.length] ?? original]) {
        const pcm = await decode(
          await underCondition(source.file, condition, folder.path),
          join(folder.path, "pcm"),
          condition.codec === null ? condition.filters : undefined,
        );
        const { turns, voices } = await diarize(models, pcm);
        const samples = voices.flatMap(({ speaker, seconds, embedding }): VoiceSample[] => {
          const own = turns.filter((turn) => turn.speaker === speaker);
          const person = longest(own, (turn) => [source.personIn(turn), turn.endSeconds - turn.startSeconds]);
          if (person === null) return [];
          const { kin, name, texts } = source;
          return [{ person, kin, source: name, texts: texts(person), seconds, embedding }];
        });
        recordings.push({ source: source.name, condition: condition.name, samples });
      }
    }
  } finally {
    await models.dispose();
  }
  return recordings;
}

/** Encodes a recording as a condition says. @returns the file to decode */
async function underCondition(file: string, { filters, codec }: Condition, directory: string): Promise<string> {
  if (codec === null) return file;
  const [ending, ...options] = codec;
  const target = join(directory, `coded.${ending}`);
  await runFfmpeg(["-i", file, "-af", filters, ...options, target]);
  return target;
}
