import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fasterWhisperVersion, installFasterWhisper } from "../bench/peer/faster-whisper.ts";
import { beforeStop } from "../shared/processes.ts";
import type { Reference } from "./corpus.ts";
import { EvaluationServer, type Hypothesis, warmUp } from "./evaluation-server.ts";
import {
  type Joined,
  type JoinedPlan,
  makeJoined,
  makeNoSpeech,
  type NoSpeech,
  type NoSpeechPlan,
  planJoined,
  planNoSpeech,
} from "./made-recordings.ts";

/** Aspects that can be measured separately. */
export const aspects = ["words", "speakers", "times", "invented"] as const;
export type Aspect = (typeof aspects)[number];

/** Recordings and the results of a server of this checkout. */
export interface Transcribed {
  readonly recordings: readonly { readonly reference: Reference; readonly hypothesis: Hypothesis }[];
  readonly joined: readonly { readonly made: Joined; readonly hypothesis: Hypothesis }[];
  readonly noSpeech: readonly { readonly made: NoSpeech; readonly hypothesis: Hypothesis }[];
}

interface SelectionOptions {
  readonly audio: string;
  readonly aspects: ReadonlySet<Aspect>;
  /** Decides by a recording's path, or by the name of a generated recording. */
  readonly isChosen: (name: string) => boolean;
}

function isNeededFor(aspect: Aspect, { text, spoken, exact }: Reference): boolean {
  if (aspect === "words") return text !== null || spoken !== null;
  return aspect === "speakers" || exact;
}

/** The recordings to transcribe. */
interface Selection {
  readonly recordings: readonly Reference[];
  readonly joined: readonly JoinedPlan[];
  readonly noSpeech: readonly NoSpeechPlan[];
}

export async function select(
  corpus: readonly Reference[],
  { audio, aspects: wanted, isChosen }: SelectionOptions,
): Promise<Selection> {
  return {
    recordings: corpus.filter(
      (reference) => isChosen(reference.path) && [...wanted].some((aspect) => isNeededFor(aspect, reference)),
    ),
    joined: wanted.has("words") || wanted.has("invented") ? planJoined(corpus, isChosen) : [],
    noSpeech: wanted.has("invented") ? await planNoSpeech(audio, isChosen) : [],
  };
}

/**
 * Transcribes the selected recordings with one server. Generates the recordings without speech and the joined ones.
 * @param onNext receives the name of each recording before it is transcribed
 */
export async function transcribeAll(
  corpus: readonly Reference[],
  selection: Selection,
  onNext: (name: string) => void,
): Promise<Transcribed> {
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  await using resources = new AsyncDisposableStack();
  using _stop = beforeStop(() => resources.disposeAsync());
  resources.defer(() => rm(directory, { recursive: true }));
  const server = resources.use(new EvaluationServer());
  await server.start();
  await warmUp(server, corpus, directory);
  const transcribe = async (name: string, file: string) => {
    onNext(name);
    return server.transcribe(file);
  };
  const recordings: Transcribed["recordings"][number][] = [];
  for (const reference of selection.recordings) {
    recordings.push({ reference, hypothesis: await transcribe(reference.path, reference.file) });
  }
  const joined: Transcribed["joined"][number][] = [];
  for (const plan of selection.joined) {
    const made = await makeJoined(corpus, plan, directory);
    joined.push({ made, hypothesis: await transcribe(made.name, made.file) });
  }
  const noSpeech: Transcribed["noSpeech"][number][] = [];
  for (const plan of selection.noSpeech) {
    const made = await makeNoSpeech(plan, directory);
    noSpeech.push({ made, hypothesis: await transcribe(made.name, made.file) });
  }
  return { recordings, joined, noSpeech };
}

/** The results of another program. */
export interface PeerTranscripts {
  readonly name: string;
  readonly recordings: Transcribed["recordings"];
}

/** The most accurate settings: unquantized weights, and the beam width of our own decoder. */
const PEER_SETTINGS = { beam: 5, computeType: "float32", batch: 0, language: null } as const;

/** Transcribes the recordings that have a reference text with faster-whisper. */
export async function transcribeWithPeer(corpus: readonly Reference[]): Promise<PeerTranscripts> {
  const references = corpus.filter(({ text }) => text !== null);
  const ask = await installFasterWhisper();
  const { answers } = await ask(
    { ...PEER_SETTINGS, threads: availableParallelism() },
    references.map(({ file }) => file),
  );
  return {
    name: `faster-whisper ${fasterWhisperVersion} with beam ${PEER_SETTINGS.beam}`,
    recordings: references.flatMap((reference, index) => {
      const answer = answers[index];
      if (answer === undefined) return [];
      const segment = {
        startSeconds: 0,
        endSeconds: reference.durationSeconds,
        speaker: "A",
        text: answer.text,
        words: [],
      };
      return [{ reference, hypothesis: { outcome: "completed", language: answer.language, segments: [segment] } }];
    }),
  };
}
