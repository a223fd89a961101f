import { readFile } from "node:fs/promises";

const intervalMilliseconds = 250;

/**
 * Calls `onExcess` when the resident memory of a process exceeds `maxBytes`. Limiting the address space is no
 * alternative, because the runtime reserves far more of it than it uses. Does nothing on systems without /proc.
 * @returns a function that stops watching
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
