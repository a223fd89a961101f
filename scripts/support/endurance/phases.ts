import type { ServerWatch } from "./watch-server.ts";

/** Says and times what is done with a server that is watched: `took` has the seconds of each phase. */
export function phasesOf(watch: ServerWatch, say: (text: string) => void) {
  const took = new Map<string, number>();
  const timed = async <T>(phase: string, work: () => Promise<T>): Promise<T> => {
    watch.phase = phase;
    say(phase);
    const since = performance.now();
    const result = await work();
    took.set(phase, (took.get(phase) ?? 0) + (performance.now() - since) / 1000);
    return result;
  };
  return { took, timed };
}
