export const MIB = 1024 ** 2;

/** Returns the median; the mean of the two middle values of an even number. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** Returns the smallest number that at least a share of all numbers does not exceed. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Adds up a figure of each element. */
export function total<T>(all: readonly T[], figureOf: (one: T) => number): number {
  return all.reduce((sum, one) => sum + figureOf(one), 0);
}

/**
 * Returns the median duration of a function in milliseconds, after a warm-up of a tenth of the repetitions.
 * @param once receives the number of previous calls
 */
export async function medianTime(times: number, once: (index: number) => unknown): Promise<number> {
  const warmUp = Math.ceil(times / 10);
  const taken: number[] = [];
  for (let index = 0; index < warmUp + times; index++) {
    const { seconds } = await timed(() => once(index));
    if (index >= warmUp) taken.push(1000 * seconds);
  }
  return median(taken);
}

export async function timed<T>(work: () => T | Promise<T>): Promise<{ readonly result: T; readonly seconds: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - startedAt) / 1000 };
}

/** Formats a share: `12.3 %`. */
export function percent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** Formats a number of bytes: `123 MiB`. */
export function inMib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
