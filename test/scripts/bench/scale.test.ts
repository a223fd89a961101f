import { describe, expect, test } from "bun:test";
import { scaleChart } from "../../../tools/bench/scale-chart.ts";
import { type ScaleFigures, scaleRows, scaleTable, verdict } from "../../../tools/bench/scale-rows.ts";

const figure = (more: Partial<ScaleFigures>): ScaleFigures => ({
  ...{
    group: "devices",
    by: "simulated",
    load: "4 × 10 min",
    audioHours: 1,
    devices: 1,
    seconds: 36,
    cpuSeconds: null,
  },
  ...more,
});
const figures = [
  figure({ group: "length", load: "1 × 1 h", by: "real models", audioHours: 1, seconds: 110, cpuSeconds: 300 }),
  figure({ group: "length", load: "1 × 6 h", by: "real models", audioHours: 6, seconds: 600, cpuSeconds: 1800 }),
  figure({}),
  figure({ devices: 4, audioHours: 4, seconds: 37 }),
  figure({ devices: 8, audioHours: 8, seconds: 45 }),
];

describe("the cost of growth", () => {
  test("is compared with the largest load, and of devices with the smallest number", () => {
    const rows = scaleRows(figures);
    expect(rows.map(({ share }) => Math.round(1000 * share))).toEqual([909, 1000, 1000, 973, 800]);
    expect(rows.filter(({ isReference }) => isReference).map(({ load, devices }) => [load, devices])).toEqual([
      ["1 × 6 h", 1],
      ["4 × 10 min", 1],
    ]);
    expect(scaleTable(rows).lines[0]).toEqual([
      "length",
      "real models",
      "1 × 1 h",
      "1",
      "110.0",
      "32.7",
      "300",
      "90.9 %",
    ]);
  });

  test("is called linear only if no smaller load is more than five percent faster", () => {
    expect(verdict(scaleRows(figures))).toBe(
      "Linear within 5 %: 4 of 5 loads. Not linear: 4 × 10 min on 8 (devices, simulated).",
    );
    const longer = figure({ group: "length", load: "1 × 9 h", by: "real models", audioHours: 9, seconds: 1000 });
    expect(verdict(scaleRows([...figures.slice(0, 2), longer]))).toBe(
      "Linear within 5 %: 2 of 3 loads. Not linear: 1 × 9 h on 1 (length, real models).",
    );
    expect(verdict(scaleRows(figures.slice(1, 4)))).toBe("All loads are linear within 5 %.");
  });

  test("is drawn with a point for each load, inside the picture", () => {
    const chart = scaleChart(scaleRows(figures), "2026-01-01, <commit> & machine");
    expect(chart).toContain("&lt;commit> &amp; machine");
    const [, width, height] = /viewBox="0 0 (\S+) (\S+)"/.exec(chart) ?? [];
    const points = [...chart.matchAll(/(?:<circle cx|<rect x)="([\d.]+)" c?y="([\d.]+)"/g)];
    // Five points and the band of each of the two groups.
    expect(points).toHaveLength(7);
    for (const [, x, y] of points) {
      expect(Number(x)).toBeWithin(0, Number(width));
      expect(Number(y)).toBeWithin(0, Number(height));
    }
  });
});
