import { readdirSync } from "node:fs";
import { join } from "node:path";
/** A server under load. */
export interface LoadTarget {
  readonly dataDirectory: string;
}

/** Files that lie in a folder of the server's. */
export function filesIn({ dataDirectory }: LoadTarget, folder: "incoming" | "uploads"): number {
  return readdirSync(join(dataDirectory, folder)).length;
}

/** Waits for something to come true, for a minute at most. @returns whether it did */
export async function comesTrue(isTrue: () => boolean | Promise<boolean>, seconds = 60): Promise<boolean> {
  const giveUpAt = performance.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) return false;
    await Bun.sleep(50);
  }
  return true;
}

/** How often each of these came, e.g. `50 × 201, 50 × 409`. */
export function tally(values: readonly (string | number)[]): string {
  const counts = new Map<string, number>();
  for (const value of values.map(String).sort()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => `${count} × ${value}`).join(", ");
}
