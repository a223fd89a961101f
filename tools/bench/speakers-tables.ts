import { median, total } from "../shared/figures.ts";
import type { Table } from "../shared/table.ts";
import type { RecordingName } from "./recordings.ts";

/** Operations of the speaker models, in the order of a recording. */
export const speakerSteps = ["detectBlock", "embedBlock", "clusterSpeakers", "embedSentences"] as const;
export type SpeakerStep = (typeof speakerSteps)[number];

export interface SpeakerFigures {
  readonly recording: RecordingName;
  /** CPU seconds of each operation for an hour of audio. */
  readonly steps: Readonly<Record<SpeakerStep, number>>;
  /** Seconds of audio that all workers process in one second. */
  readonly speed: number;
}

/** Speeds of a GPU for which the number of cores is calculated, as multiples of real time. */
const GPU_SPEEDS = [100, 300, 600, 1000];

/** Returns the CPU seconds of each operation, and the cores that keep up with a GPU, both by recording. */
export function coresTable(figures: readonly SpeakerFigures[]): [cpuSeconds: Table, cores: Table] {
  const names = [...new Set(figures.map(({ recording }) => recording))];
  const columns = names.map((name) => {
    const runs = figures.filter(({ recording }) => recording === name);
    const steps = speakerSteps.map((step) => median(runs.map((run) => run.steps[step])));
    return { steps, sum: total(steps, (each) => each) };
  });
  const rows = [...speakerSteps, "together"].map((step, at) => {
    return [step, ...columns.map(({ steps, sum }) => (steps[at] ?? sum).toFixed(1))];
  });
  const cores = GPU_SPEEDS.map((speed) => {
    return [`${speed}`, ...columns.map(({ sum }) => String(Math.ceil((speed * sum) / 3600)))];
  });
  return [
    { head: ["CPU seconds for an hour of audio", ...names], lines: rows },
    { head: ["GPU, × real time: cores that keep up", ...names], lines: cores },
  ];
}
