import type { Competitor, RunSettings } from "./competitor.ts";
import { fasterWhisperVersion, installFasterWhisper } from "./peer/faster-whisper.ts";

/** Default batch size of faster-whisper. */
const DEFAULT_BATCH = 8;
const VARIANTS = [
  { name: "greedy", beam: 1, batch: 0 },
  { name: "beam 5", beam: 5, batch: 0 },
  { name: "batched, greedy", beam: 1, batch: DEFAULT_BATCH },
  { name: "batched, beam 5", beam: 5, batch: DEFAULT_BATCH },
];

/** Prepares faster-whisper in int8, its fastest type on a CPU, with the weights of our default model. */
export async function fasterWhisper(terms: RunSettings): Promise<Competitor[]> {
  const ask = await installFasterWhisper();
  return VARIANTS.map(({ name, beam, batch }) => ({
    name: `faster-whisper ${fasterWhisperVersion} int8, ${name}`,
    async run(files) {
      const settings = { ...terms, computeType: "int8", beam, batch } as const;
      const { seconds, cpu_seconds: cpuSeconds, peak_bytes: peak, answers } = await ask(settings, files);
      return { seconds, cpuSeconds, peakBytes: { python: peak }, steps: [], texts: answers.map(({ text }) => text) };
    },
  }));
}
