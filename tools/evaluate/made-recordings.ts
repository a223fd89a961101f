import { join } from "node:path";
import type { Span } from "../../src/timeline/index.ts";
import { concatenate, type Part, type Reference, recordingsWithoutSpeech, type Sound } from "../corpus/index.ts";

/** A recording that is not one of single/ or dialogue/: recordings of single/ in a row with gaps, or no speech at all. */
export interface Made {
  readonly name: string;
  /** Recordings of single/; none in a recording without speech. */
  readonly parts: readonly Reference[];
  /** Spans without speech. */
  readonly gaps: readonly Span[];
  /** The language with the most speech. */
  readonly language: string;
  /** Generates the recording in a folder, unless it exists. @returns its path */
  readonly make: (directory: string) => Promise<string>;
}

interface JoinedPlan {
  readonly name: string;
  /** Sounds, and names of recordings of single/. A name that ends with `*` selects all recordings with this prefix. */
  readonly parts: readonly Part[];
  readonly language: string;
}

/** Returns a sound described by a formula over the seconds `t`. It is quoted, because commas separate filters. */
const formula = (expression: string) => `aevalsrc=exprs='${expression}':s=16000`;
const silence = "anullsrc=r=16000:cl=mono";
const noise = "anoisesrc=r=16000:c=pink:a=0.1:s=7";
const ringing = formula("0.4*sin(850*PI*t)*lt(mod(t,5),1)");
const gap = (sound: string, seconds: number): Sound => ({ sound, seconds });

const plans: readonly JoinedPlan[] = [
  { name: "twenty-odd readings in one", parts: ["en-libri-*"], language: "en" },
  { name: "20 s of silence between two", parts: ["en-jfk", gap(silence, 20), "en-leopard"], language: "en" },
  { name: "15 s of noise between two", parts: ["en-leopard", gap(noise, 15), "en-fleurs-001"], language: "en" },
  { name: "25 s of ringing between two", parts: ["en-fleurs-005", gap(ringing, 25), "en-jfk"], language: "en" },
  { name: "silence after speech", parts: ["en-libri-2414-128291-0005", gap(silence, 90)], language: "en" },
  { name: "noise before speech", parts: [gap(noise, 60), "fr-fleurs-005"], language: "fr" },
  { name: "a German who is greeted in English", parts: ["en-libri-3331-159605-0004", "de-fleurs-*"], language: "de" },
  { name: "English with a Spaniard in it", parts: ["es-fleurs-003", "en-fleurs-*"], language: "en" },
];

/** Silence between two recordings that have no other gap between them. */
const PAUSE_SECONDS = 0.4;

/** Returns the joined recordings whose parts all exist. @param isChosen decides by name */
export function joinedRecordings(corpus: readonly Reference[], isChosen: (name: string) => boolean): Made[] {
  return plans.flatMap(({ name, parts, language }) => {
    const found = parts.map((part) => (typeof part === "string" ? recordingsOf(corpus, part) : [part]));
    return isChosen(name) && found.every(({ length }) => length > 0) ? [joined(name, language, found.flat())] : [];
  });
}

function joined(name: string, language: string, pieces: readonly (Reference | Sound)[]): Made {
  const audio: Part[] = [];
  const gaps: Span[] = [];
  let at = 0;
  const add = (part: Part, seconds: number) => {
    audio.push(part);
    if (typeof part !== "string") gaps.push({ startSeconds: at, endSeconds: at + seconds });
    at += seconds;
  };
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    if ("sound" in piece) add(piece, piece.seconds);
    else {
      if (before !== undefined && "file" in before) add(gap(silence, PAUSE_SECONDS), PAUSE_SECONDS);
      add(piece.file, piece.durationSeconds);
    }
  }
  const parts = pieces.filter((piece) => "file" in piece);
  return { name, parts, gaps, language, make: (directory) => make(name, audio, directory) };
}

async function make(name: string, parts: readonly Part[], directory: string): Promise<string> {
  const file = join(directory, `${name.replaceAll(/\W+/g, "-")}.flac`);
  await concatenate(parts, file);
  return file;
}

function recordingsOf(corpus: readonly Reference[], pattern: string): Reference[] {
  const path = `single/${pattern}`;
  return corpus.filter((one) =>
    path.endsWith("*")
      ? one.path.startsWith(path.slice(0, -1)) && !one.path.endsWith(".mp3")
      : one.path.startsWith(`${path}.`),
  );
}

/** Chords of a slow organ, one per second, without singing. */
const chords = [
  [262, 330, 392],
  [220, 262, 330],
  [175, 220, 262],
  [196, 247, 294],
];
const note = (hertz: number) => `(sin(2*PI*${hertz}*t)+0.4*sin(4*PI*${hertz}*t)+0.2*sin(6*PI*${hertz}*t))`;
const organ = chords.map((notes, beat) => `eq(mod(floor(t),4),${beat})*(${notes.map(note).join("+")})`).join("+");
const melody = [392, 440, 494, 523, 494, 440, 392, 330]
  .map((hertz, beat) => `eq(mod(floor(3*t),8),${beat})*${note(hertz)}*exp(-4*mod(3*t,1))`)
  .join("+");

/** Tone pairs of a telephone's keys, four per second. */
const digits =
  "0.3*(sin(2*PI*(697+73*mod(floor(4*t),4))*t)+sin(2*PI*(1209+127*mod(floor(4*t),3))*t))*lt(mod(4*t,1),0.5)";

/** Sounds without speech, generated by ffmpeg; levels from a quiet room to a loud fax. */
const sounds: readonly (readonly [name: string, sound: string, lengths: readonly number[]])[] = [
  ["silence", silence, [1, 30, 300]],
  ["white noise", "anoisesrc=r=16000:c=white:a=0.1:s=1", [2, 45]],
  ["loud white noise", "anoisesrc=r=16000:c=white:a=0.7:s=2", [20]],
  ["pink noise", "anoisesrc=r=16000:c=pink:a=0.3:s=3", [5, 120]],
  ["brown noise", "anoisesrc=r=16000:c=brown:a=0.5:s=4", [60]],
  ["quiet room", "anoisesrc=r=16000:c=pink:a=0.003:s=5", [10, 300]],
  ["wind", "anoisesrc=r=16000:c=brown:a=0.8:s=6,tremolo=f=0.4:d=0.9", [60]],
  ["hum of the mains", formula("0.1*(sin(100*PI*t)+0.5*sin(200*PI*t)+0.3*sin(300*PI*t))"), [60]],
  ["tone", "sine=f=440:r=16000", [3, 30]],
  ["sweep", formula("0.4*sin(2*PI*(100*t+50*t*t))"), [30]],
  ["ringing", ringing, [60]],
  ["dialled digits", formula(digits), [12]],
  ["clicks", formula("(random(0)-0.5)*exp(-60*mod(t,0.7))"), [60]],
  ["organ", formula(`0.1*(${organ})`), [8, 90]],
  ["melody over chords", formula(`0.06*(${organ})+0.25*(${melody})`), [90]],
];

/** Returns the recordings of the corpus without speech, and the sounds above. @param isChosen decides by name */
export async function recordingsOfNothing(audio: string, isChosen: (name: string) => boolean): Promise<Made[]> {
  const silent = (name: string, seconds: number, make: Made["make"]): Made => {
    return { name, parts: [], gaps: [{ startSeconds: 0, endSeconds: seconds }], language: "", make };
  };
  const existing = (await recordingsWithoutSpeech(audio)).map(({ name, file, seconds }) =>
    silent(name, seconds, async () => file),
  );
  const generated = sounds.flatMap(([sound, description, lengths]) =>
    lengths.map((seconds) => {
      const name = `${sound}, ${seconds} s`;
      return silent(name, seconds, (directory) => make(name, [gap(description, seconds)], directory));
    }),
  );
  return [...existing, ...generated].filter(({ name }) => isChosen(name));
}
