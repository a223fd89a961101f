import { fasterWhisperVersion, installFasterWhisper } from "../peer/faster-whisper.ts";
import type { Competitor, RunSettings } from "./competitor.ts";

/** Its own default for a batch. */
const windowsAtOnce = 8;
const ways = [
  { name: "greedy", beam: 1, batch: 0 },
  { name: "beam 5", beam: 5, batch: 0 },
  { name: "batched, greedy", beam: 1, batch: windowsAtOnce },
  { name: "batched, beam 5", beam: 5, batch: windowsAtOnce },
];

/** faster-whisper in int8, which is its fastest on a CPU, with the weights that our default model was made of. */
export async function fasterWhisper(terms: RunSettings): Promise<Competitor[]> {
  const ask = await installFasterWhisper();
  return ways.map(({ name, beam, batch }) => ({
    name: `faster-whisper ${fasterWhisperVersion} int8, ${name}`,
    async run(files) {
      const way = { ...terms, computeType: "int8", beam, batch } as const;
      const { seconds, cpu_seconds: cpuSeconds, peak_bytes: peak, answers } = await ask(way, files);
      return { seconds, cpuSeconds, peakBytes: { python: peak }, steps: [], texts: answers.map(({ text }) => text) };
    },
  }));
}
