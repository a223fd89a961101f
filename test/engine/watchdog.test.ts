import { expect, test } from "bun:test";
import { Watchdog } from "../../src/engine/watchdog.ts";

test("an overdue activity is reported once, and a released one never", async () => {
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

test("time during which this process does not run makes no activity overdue", async () => {
  using watchdog = new Watchdog<string>(5);
  const late: string[] = [];
  watchdog.watch("work", 0.2, () => late.push("work"));
  await Bun.sleep(20);
  Bun.sleepSync(1000);
  await Bun.sleep(20);
  expect(late).toEqual([]);
});
