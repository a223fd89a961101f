import { fasterWhisper } from "../peer/faster-whisper.ts";
import type { Reference } from "./corpus.ts";
import type { HeardByPeer } from "./results.ts";

/** Hypotheses followed at once: what our own decoding does. */
const beam = 5;

/** What faster-whisper makes of the recordings of which somebody wrote down the words. */
export async function hearPeer(corpus: readonly Reference[]): Promise<HeardByPeer> {
  const references = corpus.filter(({ text }) => text !== null);
  const { version, answers } = await fasterWhisper(
    references.map(({ file }) => file),
    beam,
  );
  return {
    name: `faster-whisper ${version} with beam ${beam}`,
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
