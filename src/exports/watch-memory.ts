import { readFile } from "node:fs/promises";

const intervalMilliseconds = 250;

/**
 * Calls `onExcess` once a process holds more resident memory than `maxBytes`. Address space can't be limited instead: the
 * runtime reserves far more of it than it uses. Where there is no /proc nothing is watched.
 * @returns stops watching
 */
export function watchMemory(pid: number, maxBytes: number, onExcess: () => void): () => void {
  const timer = setInterval(async () => {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    const kibibytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    if (kibibytes * 1024 <= maxBytes) return;
    clearInterval(timer);
    onExcess();
  }, intervalMilliseconds);
  return () => clearInterval(timer);
}
