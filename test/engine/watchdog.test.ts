import { expect, test } from "bun:test";
import { Watchdog } from "../../src/engine/watchdog.ts";

test("what is late is told once, and what was released never is", async () => {
  using watchdog = new Watchdog<string>(5);
  const late: string[] = [];
  watchdog.watch("long", 0.05, () => late.push("long"));
  watchdog.watch("short", 0.05, () => late.push("short"));
  watchdog.release("short");
  while (late.length === 0) await Bun.sleep(5);
  await Bun.sleep(30);
  expect(late).toEqual(["long"]);
  expect(watchdog.elapsed("long")?.seconds).toBeGreaterThan(0.05);
  expect(watchdog.elapsed("short")).toBeNull();
});

test("time in which this process does not run makes nothing late", async () => {
  using watchdog = new Watchdog<string>(5);
  const late: string[] = [];
  watchdog.watch("work", 0.2, () => late.push("work"));
  await Bun.sleep(20);
  Bun.sleepSync(1000);
  await Bun.sleep(20);
  expect(late).toEqual([]);
});
