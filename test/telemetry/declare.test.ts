import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { Declarations } from "../../src/telemetry/declare.ts";

test("several readers of the metrics at the same time get all series, none counted twice", async () => {
  const registry = new Registry();
  const declare = new Declarations(registry);
  declare.gauge("recordings", "Open recordings", () => [[3, "queued"]], ["status"]);
  declare.gauge("temperature", "Left out", async () => null);
  declare.readCounter("seconds_total", "Seconds", () => 7);
  declare.readCounter("parts_total", "Parts", async () => [[5, "gpu"]], ["device"]);
  const pages: Promise<string>[] = [];
  for (let reader = 0; reader < 10; reader++) {
    pages.push(registry.metrics());
    // They begin at different steps of the others.
    for (let step = 0; step < reader; step++) await null;
  }
  for (const page of await Promise.all(pages)) {
    expect(page.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
      'recordings{status="queued"} 3',
      "seconds_total 7",
      'parts_total{device="gpu"} 5',
    ]);
  }
});
