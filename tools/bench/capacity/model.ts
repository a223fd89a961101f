import type { RequestCosts, Totals } from "./costs.ts";

/** Costs that grow with the recordings and with the hours of audio. */
type Linear = { readonly perRecording: number; readonly perHour: number };

const FITTED: readonly Fitted[] = [
  ...(["mainSeconds", "threadSeconds", "childSeconds", "brokerSeconds", "workerSeconds", "parts"] as const),
  ...(["brokerMessages", "sentBytes", "receivedBytes", "transactions", "pages", "databaseBytes"] as const),
];
type Fitted = Exclude<keyof Totals, "recordings" | "hours" | "seconds">;

export type Costs = Readonly<Record<Fitted, Linear>> & {
  readonly requests: RequestCosts;
  /** Seconds for which the main thread waits for the disk in each commit. */
  readonly commitWaitSeconds: number;
};

/** Returns the costs for each recording and for each hour that explain both loads: one of short recordings, one of long ones. */
export function fitCosts(short: Totals, long: Totals): Readonly<Record<Fitted, Linear>> {
  const determinant = short.recordings * long.hours - long.recordings * short.hours;
  const fit = (name: Fitted): Linear => {
    const perRecording = (short[name] * long.hours - long[name] * short.hours) / determinant;
    const perHour = (short.recordings * long[name] - long.recordings * short[name]) / determinant;
    // A measured cost that is too small to be seen is none.
    return { perRecording: Math.max(0, perRecording), perHour: Math.max(0, perHour) };
  };
  return Object.fromEntries(FITTED.map((name) => [name, fit(name)])) as Record<Fitted, Linear>;
}

/** Returns a cost for recordings of an average length, for each hour of audio. */
export function forHour({ perRecording, perHour }: Linear, averageMinutes: number): number {
  return perHour + (perRecording * 60) / averageMinutes;
}

/** Returns a cost of one recording. */
export function ofRecording({ perRecording, perHour }: Linear, minutes: number): number {
  return perRecording + (perHour * minutes) / 60;
}

/** Lengths of recordings in minutes, with their shares of all recordings: calls, conversations and meetings. */
export const LENGTHS = [
  { minutes: 3, share: 0.5 },
  { minutes: 15, share: 0.4 },
  { minutes: 60, share: 0.1 },
] as const;

export const AVERAGE_MINUTES = LENGTHS.reduce((sum, { minutes, share }) => sum + minutes * share, 0);

/** Shares of the worker's time, see docs/fleet.md: speech detection, transcription, speaker embeddings. */
export const WORK_SHARES = { detect: 51 / 820, transcribe: 629 / 820, embed: 140 / 820 } as const;
