import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reference } from "./corpus.ts";
import { Appliance, type Hypothesis } from "./hypotheses.ts";
import { type Joined, type Plan as JoinedPlan, makeJoined, planJoined } from "./joined.ts";
import { makeNoSpeech, type NoSpeech, type NoSpeechPlan, planNoSpeech } from "./no-speech.ts";
import { warmUp } from "./warm-up.ts";

/** What can be measured apart from the rest. */
export const aspects = ["words", "speakers", "times", "invented"] as const;
export type Aspect = (typeof aspects)[number];

/** What a server of this checkout made of recordings. */
export interface Heard {
  readonly recordings: readonly { readonly reference: Reference; readonly hypothesis: Hypothesis }[];
  readonly joined: readonly { readonly made: Joined; readonly hypothesis: Hypothesis }[];
  readonly noSpeech: readonly { readonly made: NoSpeech; readonly hypothesis: Hypothesis }[];
}

export interface Choice {
  readonly audio: string;
  readonly aspects: ReadonlySet<Aspect>;
  /** By a recording's path, or the name of one that is made. */
  readonly isChosen: (name: string) => boolean;
}

/** Whether a recording is needed for an aspect. */
export function serves(aspect: Aspect, { text, spoken, exact }: Reference): boolean {
  if (aspect === "words") return text !== null || spoken !== null;
  return aspect === "speakers" || exact;
}

/** What is to be transcribed. */
export interface Chosen {
  readonly recordings: readonly Reference[];
  readonly joined: readonly JoinedPlan[];
  readonly noSpeech: readonly NoSpeechPlan[];
}

export async function choose(
  corpus: readonly Reference[],
  { audio, aspects: wanted, isChosen }: Choice,
): Promise<Chosen> {
  return {
    recordings: corpus.filter(
      (reference) => isChosen(reference.path) && [...wanted].some((aspect) => serves(aspect, reference)),
    ),
    joined: wanted.has("words") || wanted.has("invented") ? planJoined(corpus, isChosen) : [],
    noSpeech: wanted.has("invented") ? await planNoSpeech(audio, isChosen) : [],
  };
}

/**
 * Has all that was chosen transcribed, and makes what nobody recorded: sounds without speech, and recordings of single/
 * joined.
 * @param onNext called before each, with its name
 */
export async function collect(
  corpus: readonly Reference[],
  chosen: Chosen,
  onNext: (name: string) => void,
): Promise<Heard> {
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  await using kept = new AsyncDisposableStack();
  kept.defer(() => rm(directory, { recursive: true }));
  const server = kept.use(new Appliance());
  // Who stops this early leaves no server behind either.
  const stop = () => void kept.disposeAsync().finally(() => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
  await server.start();
  await warmUp(server, corpus, directory);
  const hear = async (name: string, file: string) => {
    onNext(name);
    return server.transcribe(file);
  };
  const recordings: Heard["recordings"][number][] = [];
  for (const reference of chosen.recordings) {
    recordings.push({ reference, hypothesis: await hear(reference.path, reference.file) });
  }
  const joined: Heard["joined"][number][] = [];
  for (const plan of chosen.joined) {
    const made = await makeJoined(corpus, plan, directory);
    joined.push({ made, hypothesis: await hear(made.name, made.file) });
  }
  const noSpeech: Heard["noSpeech"][number][] = [];
  for (const plan of chosen.noSpeech) {
    const made = await makeNoSpeech(plan, directory);
    noSpeech.push({ made, hypothesis: await hear(made.name, made.file) });
  }
  return { recordings, joined, noSpeech };
}
