import { availableParallelism } from "node:os";
import { fasterWhisperVersion, installFasterWhisper } from "../peer/faster-whisper.ts";
import type { Reference } from "./corpus.ts";
import type { HeardByPeer } from "./results.ts";

/** As exact as it can be: the weights as they are, and as many hypotheses at once as our own decoding follows. */
const way = { beam: 5, computeType: "float32", batch: 0, language: null } as const;

/** What faster-whisper makes of the recordings of which somebody wrote down the words. */
export async function hearPeer(corpus: readonly Reference[]): Promise<HeardByPeer> {
  const references = corpus.filter(({ text }) => text !== null);
  const ask = await installFasterWhisper();
  const { answers } = await ask(
    { ...way, threads: availableParallelism() },
    references.map(({ file }) => file),
  );
  return {
    name: `faster-whisper ${fasterWhisperVersion} with beam ${way.beam}`,
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
