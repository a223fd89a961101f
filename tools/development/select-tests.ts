import { Glob } from "bun";

/**
 * The sizes of tests, the fastest first. `x.test.ts` is a unit test, `x.model.test.ts` a model test. Tests of the size
 * `full` repeat a case of the usual run with many values, or on simulated hardware.
 */
export const testSizes = ["unit", "integration", "model", "slow", "full"] as const;
export type TestSize = (typeof testSizes)[number];

/** Assumed milliseconds of a test file that no earlier run has measured. */
const ASSUMED_MILLISECONDS: Readonly<Record<TestSize, number>> = {
  unit: 300,
  integration: 3000,
  model: 10_000,
  slow: 30_000,
  full: 120_000,
};

/** Arguments of scripts/test that are neither a size nor a path, and not for `bun test`. */
const OWN_ARGUMENTS = ["--all", "--binary", "changed"];

/** Returns the selection of tests by the arguments of scripts/test. Without sizes or paths, all are selected. */
export function readArguments(args: readonly string[]) {
  const isSize = (arg: string): arg is TestSize => testSizes.some((size) => size === arg);
  const others = args.filter((arg) => !OWN_ARGUMENTS.includes(arg) && !isSize(arg));
  const isOption = (arg: string) => arg.startsWith("-");
  return {
    isBinary: args.includes("--binary"),
    /** Whether only the tests of changed files run. */
    isChanged: args.includes("changed"),
    /** Whether tests of the size `full` also run. */
    isAll: args.includes("--all"),
    sizes: args.filter(isSize),
    paths: others.filter((arg) => !isOption(arg)),
    /** For `bun test`. */
    options: others.filter(isOption),
  };
}

/** Returns the size that a test file names. */
export function sizeOf(file: string): TestSize {
  return testSizes.find((size) => file.includes(`.${size}.test.`)) ?? "unit";
}

/**
 * Returns the test files of a selection below a folder, as arguments of `bun test`. Files of the size `full` are among
 * them only if all tests, this size or a file's own path is selected.
 * @throws Error when there are none, so that a misspelled path does not pass
 */
export function selectTests(
  root: string,
  { sizes, paths, isAll = false }: { sizes: readonly TestSize[]; paths: readonly string[]; isAll?: boolean },
): string[] {
  const prefixes = paths.map((path) => path.replace(/^\.\//, "").replace(/\/$/, ""));
  const isWanted = (file: string) => isAll || sizes.length > 0 || prefixes.some((prefix) => isPathOf(file, prefix));
  const files = [...new Glob("test/**/*.test.{ts,tsx}").scanSync(root)]
    .filter((file) => sizes.length === 0 || sizes.includes(sizeOf(file)))
    .filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)))
    .filter((file) => sizeOf(file) !== "full" || isWanted(file))
    .sort();
  if (files.length === 0) throw new Error(`no tests: ${[...sizes, ...paths].join(" ")}`);
  return files.map((file) => `./${file}`);
}

/** Returns whether a path names a test file, with or without the end of its name, and not only a folder above it. */
function isPathOf(file: string, path: string): boolean {
  return file.startsWith(path) && !file.slice(path.length).includes("/");
}

/** Returns the durations that start the slowest files first: measured ones, and assumed ones for other files. */
export function timingsOf(files: readonly string[], measured: Readonly<Record<string, number>>): object {
  const names = files.map((file) => file.replace(/^\.\//, ""));
  const times = names.map((file) => [file, measured[file] ?? ASSUMED_MILLISECONDS[sizeOf(file)]] as const);
  return { version: 1, files: { ...measured, ...Object.fromEntries(times) } };
}

/** Folders whose integration tests start their servers in their own process, and stop them. */
const SHARING_FOLDERS = ["test/http/", "test/console/server/"];

/**
 * Returns test files in groups, each of which is one run. The unit tests come first, and share the modules of their
 * processes: loading modules again for each file takes much of their time. So do the integration tests of some folders.
 * Other files have modules of their own, because models, servers and timers that a file leaves behind must not reach the
 * next one.
 */
export function groupsOf(files: readonly string[]) {
  const isSharing = (file: string) => SHARING_FOLDERS.some((folder) => file.startsWith(`./${folder}`));
  const groupOf = (file: string) => {
    const size = sizeOf(file);
    return size === "integration" && isSharing(file) ? "sharing" : size === "unit" ? "unit" : "isolated";
  };
  return (["unit", "sharing", "isolated"] as const)
    .map((name) => ({ isIsolated: name === "isolated", files: files.filter((file) => groupOf(file) === name) }))
    .filter((group) => group.files.length > 0);
}
