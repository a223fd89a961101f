/** Writes the table of docs/metrics.md anew, from the metrics of the program. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MetricDescription, Metrics } from "../../src/telemetry/index.ts";

const pagePath = join(import.meta.dir, "../../docs/metrics.md");
const table = /(<!-- made from the program by \S+ -->\n).*(<!-- end -->)/s;

/** Every metric that a server tells. */
export function describedMetrics(): MetricDescription[] {
  return new Metrics({
    version: "",
    refusalCodes: [],
    failures: [],
    openRecordings: () => [],
    stalledRecordings: () => [],
    oldestWaitingSeconds: () => 0,
    engine: () => ({ ready: false, asleep: false, workers: [] }),
    modelInUse: () => "",
    disk: async () => ({ freeBytes: 0, sizeBytes: 0, databaseBytes: 0, folders: {} }),
    certificateEndsAt: () => null,
    fleet: () => null,
  }).describe();
}

/** The page with the table as it should be. */
export function metricsPage(page: string = readFileSync(pagePath, "utf8")): string {
  const rows = describedMetrics().map(({ name, type, labels, help }) => {
    const names = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${names} | ${help} |`;
  });
  const lines = ["", "| name | type | labels | what it says |", "|---|---|---|---|", ...rows, "", ""];
  return page.replace(table, (_, start: string, end: string) => start + lines.join("\n") + end);
}

if (import.meta.main) writeFileSync(pagePath, metricsPage());
