import { median } from "./table.ts";

/**
 * How long something takes, in milliseconds: the median, after a tenth of the times that don't count.
 * @param once told how often it was done before
 */
export async function medianTime(times: number, once: (index: number) => unknown): Promise<number> {
  const warmUp = Math.ceil(times / 10);
  const taken: number[] = [];
  for (let index = 0; index < warmUp + times; index++) {
    const startedAt = performance.now();
    await once(index);
    if (index >= warmUp) taken.push(performance.now() - startedAt);
  }
  return median(taken);
}
