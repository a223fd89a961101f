import { join } from "node:path";
import type { Reference } from "./corpus.ts";
import { joinParts, type Part, type Sound } from "./made-audio.ts";
import type { Span } from "./spans.ts";

/** Recordings of single/ one after another, with something between them. */
export interface Joined {
  readonly name: string;
  readonly file: string;
  readonly parts: readonly Reference[];
  /** Where nobody speaks. */
  readonly gaps: readonly Span[];
  /** The one that is spoken most. */
  readonly language: string;
}

export interface Plan {
  readonly name: string;
  /** A sound, or a recording of single/; an end of `*` takes all that begin so. */
  readonly parts: readonly Part[];
  readonly language: string;
}

const silence = "anullsrc=r=16000:cl=mono";
const noise = "anoisesrc=r=16000:c=pink:a=0.1:s=7";
const ringing = "aevalsrc=exprs='0.4*sin(850*PI*t)*lt(mod(t,5),1)':s=16000";
const gap = (sound: string, seconds: number) => ({ sound, seconds });

const plans: readonly Plan[] = [
  { name: "twenty-odd readings in one", parts: ["en-libri-*"], language: "en" },
  { name: "20 s of silence between two", parts: ["en-jfk", gap(silence, 20), "en-leopard"], language: "en" },
  { name: "15 s of noise between two", parts: ["en-leopard", gap(noise, 15), "en-fleurs-001"], language: "en" },
  { name: "25 s of ringing between two", parts: ["en-fleurs-005", gap(ringing, 25), "en-jfk"], language: "en" },
  { name: "silence after speech", parts: ["en-libri-2414-128291-0005", gap(silence, 90)], language: "en" },
  { name: "noise before speech", parts: [gap(noise, 60), "fr-leopard"], language: "fr" },
  { name: "a German who is greeted in English", parts: ["en-libri-3331-159605-0004", "de-fleurs-*"], language: "de" },
  { name: "English with a Spaniard in it", parts: ["es-leopard", "en-fleurs-*"], language: "en" },
];

/** Seconds of silence between recordings that have nothing else between them. */
const pauseSeconds = 0.4;

/** Plans whose recordings are all there. @param isChosen by its name */
export function planJoined(corpus: readonly Reference[], isChosen: (name: string) => boolean): Plan[] {
  return plans.filter(
    ({ name, parts }) =>
      isChosen(name) && parts.every((part) => typeof part !== "string" || recordingsOf(corpus, part).length > 0),
  );
}

/** Writes what was planned into a folder. */
export async function makeJoined(corpus: readonly Reference[], plan: Plan, directory: string): Promise<Joined> {
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
  await joinParts(audio, file);
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
