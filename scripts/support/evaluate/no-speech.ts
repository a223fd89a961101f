import { join } from "node:path";
import { speechless } from "./corpus.ts";
import { joinParts } from "./made-audio.ts";

/** Chords of a slow organ, four to a bar, that nobody sings to. */
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

/** Pairs of tones as a telephone's keys make them, four a second. */
const digits =
  "0.3*(sin(2*PI*(697+73*mod(floor(4*t),4))*t)+sin(2*PI*(1209+127*mod(floor(4*t),3))*t))*lt(mod(4*t,1),0.5)";

/** A sound by its formula over the seconds `t`; quoted, since commas part filters. */
const formula = (expression: string) => `aevalsrc=exprs='${expression}':s=16000`;

/** Sounds in which nobody speaks, as ffmpeg makes them; levels from a quiet room to a fax in the ear. */
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

/** A recording in which nobody speaks. */
export interface NoSpeech {
  readonly name: string;
  readonly file: string;
  readonly seconds: number;
}

/** One that is there, or one that is to be made. */
export type NoSpeechPlan = NoSpeech | { readonly name: string; readonly seconds: number; readonly sound: string };

/** Those of the corpus, and the sounds of above. @param isChosen by name */
export async function planNoSpeech(audio: string, isChosen: (name: string) => boolean): Promise<NoSpeechPlan[]> {
  const made = sounds.flatMap(([sound, description, lengths]) =>
    lengths.map((seconds) => ({ name: `${sound}, ${seconds} s`, seconds, sound: description })),
  );
  return [...(await speechless(audio)), ...made].filter(({ name }) => isChosen(name));
}

/** Writes what was planned into a folder, unless it is there. */
export async function makeNoSpeech(plan: NoSpeechPlan, directory: string): Promise<NoSpeech> {
  if ("file" in plan) return plan;
  const { name, ...part } = plan;
  const file = join(directory, `${name.replaceAll(/\W+/g, "-")}.wav`);
  await joinParts([part], file);
  return { name, file, seconds: part.seconds };
}
