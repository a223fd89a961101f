// The part of scripts/test that needs Bun: type check, lint, tests, and the summary of all three.
import { rename } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { root } from "../shared/checkout.ts";
import { binaryTests, type TestRun } from "./binary-tests.ts";
import { testsOfChange } from "./changed-tests.ts";
import { programBundle } from "./program-bundle.ts";
import { groupsOf, readArguments, selectTests, sizeOf, timingsOf } from "./select-tests.ts";
import { installTestPackages } from "./test-packages.ts";
import { failures, slowestFiles, summarise, summaryLine, sumOf } from "./test-summary.ts";

/** Returns a type check that stores what it found below build/, so that the next one reads only what changed since. */
const typeCheck = (name: string, ...args: readonly string[]) => {
  const stored = ["--incremental", "--tsBuildInfoFile", join(root, `build/type-check/${name}.json`)];
  return ["node_modules/.bin/tsc", "--noEmit", ...args, ...stored];
};
const CHECKS = [
  { name: "type check", command: typeCheck("all") },
  { name: "type check of the console's page", command: typeCheck("page", "-p", "src/console/page") },
  { name: "lint", command: ["node_modules/.bin/biome", "check", "--error-on-warnings"] },
];
/** Time limit of a test that sets no other. A busy machine needs many times what an idle one does. */
const TIMEOUT_MILLISECONDS = 60_000;
/** Files run at once. Most tests wait for a process half of their time; with many more at once they miss their limits. */
const LANES = Math.min(3, availableParallelism() + 1);
/** Durations that earlier runs measured, so that the slowest files start first. */
const TIMINGS = join(root, "build/test-timings.json");
/** The durations of this machine's latest run, with which a new checkout starts. */
const SHARED_TIMINGS = join(defaultCacheRoot(), "test-timings.json");

const selection = readArguments(process.argv.slice(2));
const bunTest = (which: readonly string[]) => [
  ...[process.execPath, "--no-env-file", "test", "--timeout", String(TIMEOUT_MILLISECONDS)],
  ...selection.options,
  ...which,
];

const files = selection.isBinary ? [] : await filesToTest();
const checks = runChecks();
const runs = selection.isBinary ? [await binaryTests(selection.paths, bunTest)] : await sourceTests(files);
const summary = await runTests(runs);
const failedChecks = await checks;
for (const output of failedChecks) console.log(output);
const failed = summary.failed + failedChecks.length;
console.log(summaryLine({ ...summary, failed }));
process.exitCode = failed === 0 ? 0 : 1;

/**
 * Runs type check and lint beside the tests, in the processor time that these leave.
 * @returns the output of each that failed
 */
async function runChecks(): Promise<string[]> {
  const results = CHECKS.map(async ({ name, command }) => {
    const polite = ["nice", "-n", "19", process.execPath, ...command];
    const check = Bun.spawn(polite, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const outputs = await Promise.all([new Response(check.stdout).text(), new Response(check.stderr).text()]);
    const hasPassed = (await check.exited) === 0;
    process.stdout.write(`${name}: ${hasPassed ? "passed" : "failed"}\n`);
    return hasPassed ? [] : [`${name}:\n${outputs.join("")}`];
  });
  return (await Promise.all(results)).flat();
}

/** Runs the tests and prints the output of failed ones again, and the slowest files. */
async function runTests(runs: readonly TestRun[]) {
  // A whole run needs them all, and fetches them while other tests run.
  using _packages =
    selection.paths.length === 0 && files.some((file) => sizeOf(file) === "slow") ? installTestPackages() : null;
  const summaries: ReturnType<typeof summarise>[] = [];
  const failed: string[] = [];
  for (const run of runs) {
    const { output, exitCode } = await outputOf(run);
    summaries.push(summarise(output, exitCode));
    failed.push(...failures(output));
  }
  // Options may leave out tests of a file.
  if (!selection.isBinary && selection.options.length === 0) await shareTimings();
  for (const failure of failed) console.log(`\n${failure}`);
  const slowest = slowestFiles(files, await readTimings());
  if (slowest.length > 0) console.log(`\nslowest files:\n${slowest.join("\n")}\n`);
  return sumOf(summaries);
}

/** Runs tests and passes their output on. */
async function outputOf(run: TestRun): Promise<{ readonly output: string; readonly exitCode: number }> {
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
  const exitCode = await tests.exited;
  await run.clean?.();
  return { output, exitCode };
}

/** Returns the selected test files as arguments of `bun test`, and logs which files are left out. */
async function filesToTest(): Promise<string[]> {
  const selected = selectTests(root, selection);
  if (selection.isChanged) return await testsOfChange(root, changedFiles(), selected);
  const leftOut = selectTests(root, { ...selection, isAll: true }).length - selected.length;
  if (leftOut > 0) console.log(`test files of the size full that only scripts/test --all runs: ${leftOut}`);
  return selected;
}

/** Returns the runs of test files against the source, in order. */
async function sourceTests(files: readonly string[]): Promise<TestRun[]> {
  if (files.length === 0) return [];
  await Bun.write(TIMINGS, JSON.stringify(timingsOf(files, await readTimings())));
  const order = [`--parallel=${LANES}`, `--timings=${TIMINGS}`, "--update-timings"];
  const needsProgram = files.some((file) => sizeOf(file) !== "unit");
  const bundle = needsProgram ? { TEST_BUNDLE: await programBundle() } : {};
  const env = { TEST_SIZES: "enforced", ...bundle };
  // An option such as a pattern of names applies to all files together.
  if (selection.options.length > 0) return [{ command: bunTest([...order, ...files]), env }];
  return groupsOf(files).map(({ isIsolated, files }) => {
    const isolation = isIsolated ? [] : ["--no-isolate"];
    return { command: bunTest([...order, ...isolation, ...files]), env };
  });
}

async function readTimings(): Promise<Record<string, number>> {
  for (const path of [TIMINGS, SHARED_TIMINGS]) {
    const stored = await Bun.file(path)
      .json()
      .catch(() => null);
    if (stored !== null) return stored.files;
  }
  return {};
}

/** Stores this run's durations for new checkouts. */
async function shareTimings(): Promise<void> {
  const temporary = `${SHARED_TIMINGS}-${process.pid}`;
  await Bun.write(temporary, Bun.file(TIMINGS));
  await rename(temporary, SHARED_TIMINGS);
}

/** Returns the files that differ from where the branch left `main`, or on `main` from the last commit, and new files. */
function changedFiles(): string[] {
  const git = (...args: readonly string[]) => {
    const { stdout, exitCode } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
    return exitCode === 0 ? stdout.toString().trim() : "";
  };
  const base = git("merge-base", "HEAD", "main") || "HEAD";
  const changed = [git("diff", "--name-only", base), git("ls-files", "--others", "--exclude-standard")];
  return changed.flatMap((names) => names.split("\n")).filter((name) => name !== "");
}
