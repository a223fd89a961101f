/** What this machine can do: every step of the pipeline, measured on speech that the program carries. */
export { type Benchmark, type BenchmarkRow, runBenchmark } from "./run-benchmark.ts";
