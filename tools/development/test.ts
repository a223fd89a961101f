// The part of scripts/test that needs Bun: type check, lint, tests, and the summary of all three.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "../shared/checkout.ts";
import { binaryTests, type TestRun } from "./binary-tests.ts";
import { readArguments, selectTests, timingsOf } from "./select-tests.ts";
import { failures, summarise, summaryLine } from "./test-summary.ts";

const CHECKS = [
  { name: "type check", command: ["node_modules/.bin/tsc", "--noEmit"] },
  {
    name: "type check of the console's page",
    command: ["node_modules/.bin/tsc", "--noEmit", "-p", "src/console-page"],
  },
  { name: "lint", command: ["node_modules/.bin/biome", "check", "--error-on-warnings"] },
];
/** Time limit of a test that sets no other. A busy machine needs many times what an idle one does. */
const TIMEOUT_MILLISECONDS = 60_000;
/** Files run at once. Many tests wait for a process or a model on one core; more than two at once miss their limits. */
const LANES = Math.min(2, availableParallelism());
/** Durations that earlier runs measured, so that the slowest files start first. */
const TIMINGS = join(root, "build/test-timings.json");

const selection = readArguments(process.argv.slice(2));
const bunTest = (which: readonly string[]) => [
  ...[process.execPath, "--no-env-file", "test", "--timeout", String(TIMEOUT_MILLISECONDS)],
  ...selection.options,
  ...which,
];

let failedChecks = 0;
for (const { name, command } of CHECKS) {
  console.log(`${name}: ${command.join(" ")}`);
  const check = Bun.spawn([process.execPath, ...command], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if ((await check.exited) !== 0) {
    console.log(`${name}: failed`);
    failedChecks++;
  }
}

const run = selection.isBinary ? await binaryTests(selection.paths, bunTest) : await sourceTests();
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

/** Returns the run of the selected tests against the source. */
async function sourceTests(): Promise<TestRun> {
  const files = selectTests(root, selection);
  const measured = await Bun.file(TIMINGS)
    .json()
    .then(({ files }) => files)
    .catch(() => ({}));
  await Bun.write(TIMINGS, JSON.stringify(timingsOf(files, measured)));
  const changed = selection.isChanged ? [`--changed=${mergeBase()}`, "--pass-with-no-tests"] : [];
  const order = [`--parallel=${LANES}`, `--timings=${TIMINGS}`, "--update-timings"];
  return { command: bunTest([...order, ...changed, ...files]), env: { TEST_SIZES: "enforced" } };
}

/** Returns the commit that changes count from: where the branch left `main`, or the last commit on `main` itself. */
function mergeBase(): string {
  const { stdout, exitCode } = Bun.spawnSync(["git", "merge-base", "HEAD", "main"], { cwd: root, stderr: "ignore" });
  return exitCode === 0 ? stdout.toString().trim() : "HEAD";
}
