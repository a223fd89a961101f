import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { audioDirectory } from "../../../harness/diarized-recording.ts";
import { embed, readPcm } from "../../../src/speech/diarization/index.ts";
import { minSimilarity } from "../../../src/speech/diarization/similarity.ts";
import { openedModels } from "../../support/diarization-models.ts";

setDefaultTimeout(60_000);

const recording = join(audioDirectory, "dialogue/dlg-09-2spk-short-turns.flac");
const hasRecording = existsSync(recording);
if (!hasRecording) console.warn("SKIPPED: voices of sentences, because scripts/setup made no recordings");

const { opened, decode } = openedModels();

test.skipIf(!hasRecording)(
  "sentences of one speaker exceed the threshold of similarity, and another speaker's do not",
  async () => {
    const turns: { start: number; end: number; speaker: string }[] = await Bun.file(
      recording.replace(".flac", ".turns.json"),
    ).json();
    const long = turns.filter(({ start, end }) => end - start > 1.5);
    const pcm = await decode(recording);
    const voices: Float32Array[] = [];
    for (const { start, end } of long) {
      const length = Math.floor(Math.min(end - start, 2.5) * 16_000);
      voices.push(await embed(opened(), await readPcm(pcm, Math.floor(start * 16_000), length)));
    }
    for (const [index, turn] of long.entries()) {
      const voice = voices[index] ?? [];
      const to = (isOwn: boolean) => {
        const others = voices.filter(
          (_, other) => other !== index && (long[other]?.speaker === turn.speaker) === isOwn,
        );
        const sum = Array.from(voice, (_, at) => others.reduce((total, other) => total + (other[at] ?? 0), 0));
        return sum.reduce((total, value, at) => total + value * (voice[at] ?? 0), 0) / Math.hypot(...sum);
      };
      expect(to(true)).toBeGreaterThan(minSimilarity.ofSentences);
      expect(to(false)).toBeLessThan(minSimilarity.ofSentences - 0.1);
    }
  },
);
