import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings, settingEntries } from "../../src/config/index.ts";
import { chartRows } from "../../tools/development/docs/chart-values.ts";
import { blocksOf, pages } from "./pages.ts";

const groups = new Set(settingEntries.map(({ path }) => path.split(".")[0]));
const paths = new Set(settingEntries.map(({ path }) => path));

/** Names of log events, which look like settings. */
const source = join(root, "src");
const events = new Set(
  [...new Glob("**/*.ts").scanSync(source)].flatMap((file) =>
    [...readFileSync(join(source, file), "utf8").matchAll(/event: "([a-z_.]+)"/g)].map((match) => match[1] ?? ""),
  ),
);

/** Values of the Helm chart, of which some look like settings. */
const chart: unknown = Bun.YAML.parse(readFileSync(join(root, "deploy/helm/transcribe/values.yaml"), "utf8"));
const chartValues = new Set(
  chartRows(chart).map(([name = ""]) => name.replaceAll("`", "").replace("workerDefaults.", "")),
);

/** Returns the settings that a page names in its sentences and tables, e.g. `server.port`. */
function named(text: string): string[] {
  const spans = [...text.matchAll(/`([a-z]+)\.([a-z_]+)(?: = [^`]*)?`/g)];
  const names = spans.filter((match) => groups.has(match[1] ?? "")).map((match) => `${match[1]}.${match[2]}`);
  return names.filter((name) => !events.has(name));
}

test("the documentation names settings", () => {
  expect(pages.flatMap(({ text }) => named(text)).length).toBeGreaterThan(10);
});

test.each(pages.map((page) => [page.name, page] as const))("every setting that %s names exists", (name, page) => {
  const others = name === "docs/kubernetes.md" ? chartValues : new Set<string>();
  expect(named(page.text).filter((path) => !paths.has(path) && !others.has(path))).toEqual([]);
});

test.each(pages.map((page) => [page.name, page] as const))("every variable that %s names is read", (_, page) => {
  const variables = [...new Set(page.text.match(/\bTRANSCRIBE_[A-Z_]+\b/g) ?? [])];
  const readings = variables.map((name) => {
    const entry = settingEntries.find(({ env }) => env === name);
    // Variables that are not settings are listed by name; any other one with the prefix is an error.
    const value = String(entry?.defaultValue ?? "");
    return [name, () => loadSettings({ file: undefined, environment: { [name]: value }, flags: {} })] as const;
  });
  expect(readings.filter(([, read]) => !works(read)).map(([name]) => name)).toEqual([]);
});

const files = pages.flatMap(blocksOf).filter(({ language }) => language === "toml");

test.if(files.length > 0).each(files.map((block) => [`${block.page}:${block.line}`, block] as const))(
  "the settings file at %s is valid",
  (_, block) => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "transcribe.toml");
    writeFileSync(file, block.text);
    expect(loadSettings({ file, environment: {}, flags: {} })).toBeDefined();
  },
);

function works(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
