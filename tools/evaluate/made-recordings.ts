import { join } from "node:path";
import { mediaToolPath } from "../../harness/checkout.ts";
import { runCommand } from "../shared/run-command.ts";
import type { Reference } from "./corpus.ts";
import { recordingsWithoutSpeech } from "./corpus.ts";
import type { Span } from "./measure-times.ts";

/** A sound that ffmpeg generates: its filter description and its length. */
export interface Sound {
  readonly sound: string;
  readonly seconds: number;
}

/** The path of a recording, or a sound. */
export type Part = string | Sound;

/** Concatenates parts into a file, as mono at 16 kHz. */
export async function concatenate(parts: readonly Part[], target: string): Promise<void> {
  const inputs = parts.flatMap((part) =>
    typeof part === "string" ? ["-i", part] : ["-f", "lavfi", "-t", String(part.seconds), "-i", part.sound],
  );
  const form = "aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono";
  const chains = parts.map((_, index) => `[${index}:a]${form}[part${index}]`);
  const joined = `${parts.map((_, index) => `[part${index}]`).join("")}concat=n=${parts.length}:v=0:a=1[out]`;
  await runCommand([
    ...[mediaToolPath, "-nostdin", "-v", "error", "-y", ...inputs],
    ...["-filter_complex", [...chains, joined].join(";"), "-map", "[out]", target],
  ]);
}

/** Recordings of single/ in a row, with gaps between them. */
export interface Joined {
  readonly name: string;
  readonly file: string;
  readonly parts: readonly Reference[];
  /** Spans without speech. */
  readonly gaps: readonly Span[];
  /** The language with the most speech. */
  readonly language: string;
}

export interface JoinedPlan {
  readonly name: string;
  /** Sounds, and names of recordings of single/. A name that ends with `*` selects all recordings with this prefix. */
  readonly parts: readonly Part[];
  readonly language: string;
}

const silence = "anullsrc=r=16000:cl=mono";
const noise = "anoisesrc=r=16000:c=pink:a=0.1:s=7";
const ringing = "aevalsrc=exprs='0.4*sin(850*PI*t)*lt(mod(t,5),1)':s=16000";
const gap = (sound: string, seconds: number) => ({ sound, seconds });

const plans: readonly JoinedPlan[] = [
  { name: "twenty-odd readings in one", parts: ["en-libri-*"], language: "en" },
  { name: "20 s of silence between two", parts: ["en-jfk", gap(silence, 20), "en-leopard"], language: "en" },
  { name: "15 s of noise between two", parts: ["en-leopard", gap(noise, 15), "en-fleurs-001"], language: "en" },
  { name: "25 s of ringing between two", parts: ["en-fleurs-005", gap(ringing, 25), "en-jfk"], language: "en" },
  { name: "silence after speech", parts: ["en-libri-2414-128291-0005", gap(silence, 90)], language: "en" },
  { name: "noise before speech", parts: [gap(noise, 60), "fr-leopard"], language: "fr" },
  { name: "a German who is greeted in English", parts: ["en-libri-3331-159605-0004", "de-fleurs-*"], language: "de" },
  { name: "English with a Spaniard in it", parts: ["es-leopard", "en-fleurs-*"], language: "en" },
];

/** Silence between two recordings that have no other gap between them. */
const pauseSeconds = 0.4;

/**
 * Returns the plans whose recordings all exist.
 * @param isChosen decides by the name of the plan
 */
export function planJoined(corpus: readonly Reference[], isChosen: (name: string) => boolean): JoinedPlan[] {
  return plans.filter(
    ({ name, parts }) =>
      isChosen(name) && parts.every((part) => typeof part !== "string" || recordingsOf(corpus, part).length > 0),
  );
}

/** Generates a joined recording in a folder. */
export async function makeJoined(corpus: readonly Reference[], plan: JoinedPlan, directory: string): Promise<Joined> {
  const pieces = plan.parts.flatMap((part): (Reference | Sound)[] =>
    typeof part === "string" ? recordingsOf(corpus, part) : [part],
  );
  const audio: Part[] = [];
  const gaps: Span[] = [];
  let at = 0;
  const add = (part: Part, seconds: number, isGap: boolean) => {
    audio.push(part);
    if (isGap) gaps.push({ startSeconds: at, endSeconds: at + seconds });
    at += seconds;
  };
  for (const [index, piece] of pieces.entries()) {
    if ("sound" in piece) {
      add(piece, piece.seconds, true);
      continue;
    }
    const before = pieces[index - 1];
    if (before !== undefined && "file" in before) add(gap(silence, pauseSeconds), pauseSeconds, true);
    add(piece.file, piece.durationSeconds, false);
  }
  const file = join(directory, `${plan.name.replaceAll(/\W+/g, "-")}.flac`);
  await concatenate(audio, file);
  const parts = pieces.flatMap((piece) => ("file" in piece ? [piece] : []));
  return { name: plan.name, file, parts, gaps, language: plan.language };
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

/** Returns a sound described by a formula over the seconds `t`. It is quoted, because commas separate filters. */
const formula = (expression: string) => `aevalsrc=exprs='${expression}':s=16000`;

/** Sounds without speech, generated by ffmpeg; levels from a quiet room to a loud fax. */
const sounds: readonly (readonly [name: string, sound: string, lengths: readonly number[]])[] = [
  ["silence", "anullsrc=r=16000:cl=mono", [1, 30, 300]],
  ["white noise", "anoisesrc=r=16000:c=white:a=0.1:s=1", [2, 45]],
  ["loud white noise", "anoisesrc=r=16000:c=white:a=0.7:s=2", [20]],
  ["pink noise", "anoisesrc=r=16000:c=pink:a=0.3:s=3", [5, 120]],
  ["brown noise", "anoisesrc=r=16000:c=brown:a=0.5:s=4", [60]],
  ["quiet room", "anoisesrc=r=16000:c=pink:a=0.003:s=5", [10, 300]],
  ["wind", "anoisesrc=r=16000:c=brown:a=0.8:s=6,tremolo=f=0.4:d=0.9", [60]],
  ["hum of the mains", formula("0.1*(sin(100*PI*t)+0.5*sin(200*PI*t)+0.3*sin(300*PI*t))"), [60]],
  ["tone", "sine=f=440:r=16000", [3, 30]],
  ["sweep", formula("0.4*sin(2*PI*(100*t+50*t*t))"), [30]],
  ["ringing", formula("0.4*sin(850*PI*t)*lt(mod(t,5),1)"), [60]],
  ["dialled digits", formula(digits), [12]],
  ["clicks", formula("(random(0)-0.5)*exp(-60*mod(t,0.7))"), [60]],
  ["organ", formula(`0.1*(${organ})`), [8, 90]],
  ["melody over chords", formula(`0.06*(${organ})+0.25*(${melody})`), [90]],
];

/** A recording without speech. */
export interface NoSpeech {
  readonly name: string;
  readonly file: string;
  readonly seconds: number;
}

/** An existing recording, or a sound to generate. */
export type NoSpeechPlan = NoSpeech | { readonly name: string; readonly seconds: number; readonly sound: string };

/**
 * Returns the recordings of the corpus and the sounds above.
 * @param isChosen decides by name
 */
export async function planNoSpeech(audio: string, isChosen: (name: string) => boolean): Promise<NoSpeechPlan[]> {
  const made = sounds.flatMap(([sound, description, lengths]) =>
    lengths.map((seconds) => ({ name: `${sound}, ${seconds} s`, seconds, sound: description })),
  );
  return [...(await recordingsWithoutSpeech(audio)), ...made].filter(({ name }) => isChosen(name));
}

/** Generates the recording in a folder, unless it exists. */
export async function makeNoSpeech(plan: NoSpeechPlan, directory: string): Promise<NoSpeech> {
  if ("file" in plan) return plan;
  const { name, ...part } = plan;
  const file = join(directory, `${name.replaceAll(/\W+/g, "-")}.wav`);
  await concatenate([part], file);
  return { name, file, seconds: part.seconds };
}
