import type { TestClient } from "../../../test/support/client.ts";

export interface PollOptions {
  readonly clients: number;
  readonly everySeconds: number;
  /** What one client asks for each time, one after the other. */
  readonly paths: readonly string[];
  /** Polling goes on until this is true. */
  readonly isOver: () => boolean | Promise<boolean>;
}

export interface Polls {
  /** Of each GET, in order of length. */
  readonly milliseconds: readonly number[];
  /** What was answered otherwise than 200. */
  readonly failures: readonly string[];
}

/** Clients that poll, spread evenly over the pause between two polls of one. */
export async function poll(client: TestClient, options: PollOptions): Promise<Polls> {
  const { clients, everySeconds, paths, isOver } = options;
  const milliseconds: number[] = [];
  const failures: string[] = [];
  let over = false;
  const ask = async (path: string) => {
    const since = performance.now();
    try {
      const response = await client.fetch(path);
      await response.arrayBuffer();
      if (response.status !== 200) failures.push(`${response.status}`);
    } catch (error) {
      failures.push(error instanceof Error ? error.name : "an error");
    }
    milliseconds.push(performance.now() - since);
  };
  const one = async (index: number) => {
    let next = performance.now() + (index / clients) * everySeconds * 1000;
    while (!over) {
      await Bun.sleep(Math.max(0, next - performance.now()));
      if (over) return;
      for (const path of paths) await ask(path);
      next += everySeconds * 1000;
    }
  };
  const polling = Promise.all(Array.from({ length: clients }, (_, index) => one(index)));
  while (!(await isOver())) await Bun.sleep(500);
  over = true;
  await polling;
  return { milliseconds: milliseconds.sort((a, b) => a - b), failures };
}

/** The value that this share of sorted values does not pass. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
