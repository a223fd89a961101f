export { type Output, type OutputOptions, planOutputs, standardOutput } from "./plan-outputs.ts";
export { writeOutput } from "./write-output.ts";
