import { Glob } from "bun";

/** The sizes of tests, the fastest first. `x.test.ts` is a unit test, `x.model.test.ts` a model test. */
export const testSizes = ["unit", "integration", "model", "slow"] as const;
export type TestSize = (typeof testSizes)[number];

/** Assumed milliseconds of a test file that no earlier run has measured. */
const ASSUMED_MILLISECONDS: Readonly<Record<TestSize, number>> = {
  unit: 300,
  integration: 3000,
  model: 10_000,
  slow: 30_000,
};

/** Selection of tests by the arguments of scripts/test. */
export interface TestSelection {
  readonly isBinary: boolean;
  /** Whether only tests run whose imports lead to a changed file. */
  readonly isChanged: boolean;
  /** Sizes to run; empty for all. */
  readonly sizes: readonly TestSize[];
  /** Files and folders to run; empty for all. */
  readonly paths: readonly string[];
  /** Options for `bun test`. */
  readonly options: readonly string[];
}

/** Reads the arguments of scripts/test. */
export function readArguments(args: readonly string[]): TestSelection {
  const isSize = (arg: string): arg is TestSize => testSizes.some((size) => size === arg);
  const isOption = (arg: string) => arg.startsWith("-") && arg !== "--binary";
  return {
    isBinary: args.includes("--binary"),
    isChanged: args.includes("changed"),
    sizes: args.filter(isSize),
    paths: args.filter((arg) => !isSize(arg) && !isOption(arg) && arg !== "changed" && arg !== "--binary"),
    options: args.filter(isOption),
  };
}

/** Returns the size that a test file names. */
export function sizeOf(file: string): TestSize {
  return testSizes.find((size) => file.includes(`.${size}.test.`)) ?? "unit";
}

/**
 * Returns the test files of a selection below a folder, as arguments of `bun test`.
 * @throws Error when there are none, so that a misspelled path does not pass
 */
export function selectTests(root: string, { sizes, paths }: Pick<TestSelection, "sizes" | "paths">): string[] {
  const prefixes = paths.map((path) => path.replace(/^\.\//, ""));
  const files = [...new Glob("test/**/*.test.{ts,tsx}").scanSync(root)]
    .filter((file) => sizes.length === 0 || sizes.includes(sizeOf(file)))
    .filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)))
    .sort();
  if (files.length === 0) throw new Error(`no tests: ${[...sizes, ...paths].join(" ")}`);
  return files.map((file) => `./${file}`);
}

/** Returns the durations that start the slowest files first: measured ones, and assumed ones for other files. */
export function timingsOf(files: readonly string[], measured: Readonly<Record<string, number>>): object {
  const names = files.map((file) => file.replace(/^\.\//, ""));
  const times = names.map((file) => [file, measured[file] ?? ASSUMED_MILLISECONDS[sizeOf(file)]] as const);
  return { version: 1, files: { ...measured, ...Object.fromEntries(times) } };
}
