export { type Benchmark, type BenchmarkRow, runBenchmark } from "./benchmark/run-benchmark.ts";
export { runTuning, type TunedLanes, type Tunings } from "./benchmark/run-tuning.ts";
export type { Finding, Status } from "./doctor/check.ts";
export { checks } from "./doctor/checks/index.ts";
export { openContext } from "./doctor/context.ts";
export { type Result, runChecks } from "./doctor/run-checks.ts";
