import type { RequestCosts, Totals } from "./costs.ts";

/** Costs that grow with the recordings and with the hours of audio. */
type Linear = { readonly perRecording: number; readonly perHour: number };

const FITTED: readonly Fitted[] = [
  ...(["mainSeconds", "threadSeconds", "childSeconds", "brokerSeconds", "workerSeconds", "parts"] as const),
  ...(["brokerMessages", "sentBytes", "receivedBytes", "transactions", "pages", "databaseBytes"] as const),
];
type Fitted = Exclude<keyof Totals, "recordings" | "hours" | "seconds" | "busyShare">;

export type Costs = Readonly<Record<Fitted, Linear>> & {
  /** Times that the main thread waits for the disk. */
  readonly syncs: Linear;
  readonly requests: RequestCosts;
  /** Seconds of each of them. */
  readonly syncSeconds: number;
  /** CPU seconds of a commit with the average number of pages; they are part of those of the main thread. */
  readonly commitSeconds: number;
};

/** Returns the costs for each recording and for each hour that explain both loads: one of short recordings, one of long ones. */
export function fitCosts(short: Totals, long: Totals): Readonly<Record<Fitted, Linear>> {
  return Object.fromEntries(
    FITTED.map((name) => [name, fit({ ...short, sum: short[name] }, { ...long, sum: long[name] })]),
  ) as Record<Fitted, Linear>;
}

type Sum = Pick<Totals, "recordings" | "hours"> & { readonly sum: number };

/** Returns what each recording and each hour adds to a sum. */
export function fit(short: Sum, long: Sum): Linear {
  const determinant = short.recordings * long.hours - long.recordings * short.hours;
  const perRecording = (short.sum * long.hours - long.sum * short.hours) / determinant;
  const perHour = (short.recordings * long.sum - long.recordings * short.sum) / determinant;
  // A cost that is too small to be measured is none.
  return { perRecording: Math.max(0, perRecording), perHour: Math.max(0, perHour) };
}

/** Returns the costs on cores that other programs use for a share of the time: CPU time takes longer. */
export function besideOthers(costs: Costs, share: number): Costs {
  const slower = ({ perRecording, perHour }: Linear): Linear => ({
    perRecording: perRecording / (1 - share),
    perHour: perHour / (1 - share),
  });
  return {
    ...costs,
    mainSeconds: slower(costs.mainSeconds),
    threadSeconds: slower(costs.threadSeconds),
    childSeconds: slower(costs.childSeconds),
    brokerSeconds: slower(costs.brokerSeconds),
    workerSeconds: slower(costs.workerSeconds),
  };
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
