// The part of scripts/test that needs Bun: type check, lint, tests, and the summary of all three.
import { availableParallelism } from "node:os";
import { binaryTests, type TestRun } from "./binary-tests.ts";
import { root } from "./checkout.ts";
import { failures, summarise, summaryLine } from "./test-summary.ts";

const CHECKS = [
  { name: "type check", command: ["node_modules/.bin/tsc", "--noEmit"] },
  {
    name: "type check of the console's page",
    command: ["node_modules/.bin/tsc", "--noEmit", "-p", "src/console-page"],
  },
  { name: "lint", command: ["node_modules/.bin/biome", "check", "--error-on-warnings"] },
];

const args = process.argv.slice(2);
const names = args.filter((arg) => arg !== "--binary");
/** For a test that sets no other: what takes a second takes many where other programs keep the machine busy. */
const timeoutMilliseconds = 60_000;
const bunTest = (which: readonly string[]) => [
  ...[process.execPath, "--no-env-file", "test"],
  ...["--timeout", String(timeoutMilliseconds), ...which],
];
/** Files run at once. Many tests wait for a process or a model on one core; more than two at once miss their limits. */
const LANES = Math.min(2, availableParallelism());

let failedChecks = 0;
for (const { name, command } of CHECKS) {
  console.log(`${name}: ${command.join(" ")}`);
  const check = Bun.spawn([process.execPath, ...command], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if ((await check.exited) !== 0) {
    console.log(`${name}: failed`);
    failedChecks++;
  }
}

const run: TestRun = args.includes("--binary")
  ? await binaryTests(names, bunTest)
  : { command: bunTest([`--parallel=${LANES}`, ...names]), env: {} };
const tests = Bun.spawn([...run.command], {
  cwd: root,
  env: { ...process.env, ...run.env },
  stdio: ["ignore", "inherit", "pipe"],
});
const decoder = new TextDecoder();
let output = "";
for await (const piece of tests.stderr) {
  process.stderr.write(piece);
  output += decoder.decode(piece, { stream: true });
}
const summary = summarise(output, await tests.exited);
await run.clean?.();
for (const failure of failures(output)) console.log(`\n${failure}`);
const failed = summary.failed + failedChecks;
console.log(summaryLine({ ...summary, failed }));
process.exitCode = failed === 0 ? 0 : 1;
