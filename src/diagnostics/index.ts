export { type Benchmark, type BenchmarkRow, runBenchmark } from "./benchmark/run-benchmark.ts";
export type { Finding, Status } from "./doctor/check.ts";
export { checks } from "./doctor/checks/index.ts";
export { openContext } from "./doctor/context.ts";
export { type Result, runChecks } from "./doctor/run-checks.ts";
