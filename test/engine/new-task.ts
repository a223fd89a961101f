import type { Task } from "../../src/engine/task.ts";

/** Returns a requested operation. */
export function newTask(id: number, more: Partial<Task> = {}): Task {
  const operation = {
    name: "planChunks",
    params: { area: { directory: "/", pcm: { path: "/", sampleCount: 1 } } },
  } as const;
  const begins = { startedAt: 0, crashes: 0, kills: 0, stalled: false, cancelled: false };
  return { id, operation, record: null, settle: () => {}, ...begins, ...more };
}
