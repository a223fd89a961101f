import { expect, test } from "bun:test";
import { join } from "node:path";
import { isAlive } from "../../harness/processes.ts";

test("process groups do not outlive a server that is killed, even if their guard was killed before; released ones do", async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "guard-child.ts")], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const leaders: number[] = JSON.parse(new TextDecoder().decode(value));
  const released = leaders[1] ?? 0;
  try {
    expect(leaders.map(isAlive)).toEqual([true, true, true, true]);
    child.kill("SIGKILL");
    await child.exited;
    while (leaders.some((pid) => pid !== released && isAlive(pid))) await Bun.sleep(10);
    expect(isAlive(released)).toBe(true);
  } finally {
    process.kill(released, "SIGKILL");
  }
}, 60_000);
