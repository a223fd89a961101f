export { addOutputOptions } from "./output-options.ts";
export { type Output, planOutputs, standardOutput } from "./plan-outputs.ts";
export { writeOutput } from "./write-output.ts";
