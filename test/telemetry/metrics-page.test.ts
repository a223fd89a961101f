import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { describedMetrics, metricsPage } from "../../tools/development/docs/pages.ts";

test("docs/metrics.md is what scripts/docs generates", () => {
  const page = readFileSync(join(root, "docs/metrics.md"), "utf8");
  expect(page).toBe(metricsPage(page));
  for (const { name } of describedMetrics()) expect(page).toContain(`| \`${name}\` |`);
});

test("metric names follow Prometheus's conventions: base units, counters end with _total", () => {
  const described = describedMetrics();
  expect(described.length).toBeGreaterThan(25);
  for (const { name, type, help, labels } of described) {
    expect(name).toMatch(/^(transcribe|process)_[a-z_]+$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    expect(name).not.toMatch(/milliseconds|minutes|hours|kilo|mega|percent/);
    expect(help.length).toBeGreaterThan(10);
    for (const label of labels) expect(label).toMatch(/^[a-z]+$/);
  }
});
