import { expect, test } from "bun:test";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";

/** Parts of src/, those that know most first. A part may import the doors of parts further down. */
const layers = [
  ["cli"],
  ["doctor", "benchmark"],
  ["service"],
  ["appliance"],
  ["console"],
  ["http"],
  ["exports"],
  ["queue"],
  ["pipeline", "listening"],
  ["engine", "media", "models"],
  ["transcriptions", "accounts"],
  ["storage"],
  ["config", "program", "telemetry"],
  ["wording"],
];
const layerOf = (part: string) => layers.findIndex((layer) => layer.includes(part));

const source = resolve(import.meta.dir, "../src");
/** Starts a part in a process of its own, so it reaches behind doors that the server must not open. */
const entry = "main.ts";

/** Paths of the imports that are left when types are gone. */
function importsOfValues(file: string, text: string): string[] {
  const transpiler = new Bun.Transpiler({ loader: file.endsWith(".tsx") ? "tsx" : "ts" });
  return transpiler.scanImports(text).map((found) => found.path);
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Imports of values and of types: our own as paths under src/, packages by their names. */
function importsOf(file: string, text: string): Import[] {
  const ofTypes = [...text.matchAll(/from "([^"]+)"/g)].map((match) => match[1] ?? "");
  const all = new Set([...importsOfValues(file, text), ...ofTypes]);
  return [...all].map((path) => ({
    from: file,
    to: path.startsWith(".") ? relative(source, resolve(source, dirname(file), path)) : path,
  }));
}

const files = [...new Glob("**/*.{ts,tsx}").scanSync(source)].filter(
  (file) => file !== entry && !file.endsWith(".d.ts"),
);
const imports = (
  await Promise.all(files.map(async (file) => importsOf(file, await Bun.file(join(source, file)).text())))
).flat();
const partOf = (path: string) => path.split("/")[0] ?? "";
const between = imports.filter(({ from, to }) => layerOf(partOf(to)) >= 0 && partOf(from) !== partOf(to));

test("every part has its place in the order of imports", () => {
  const parts = new Set(files.filter((file) => file.includes("/")).map(partOf));
  expect([...parts].filter((part) => layerOf(part) < 0)).toEqual([]);
  expect(between.length).toBeGreaterThan(20);
});

test("imports between parts point one way", () => {
  expect(between.filter(({ from, to }) => layerOf(partOf(from)) >= layerOf(partOf(to)))).toEqual([]);
});

test("nobody reaches past a part's door", () => {
  expect(between.filter(({ to }) => !/^[a-z-]+\/index\.ts$/.test(to))).toEqual([]);
});

test("nobody reaches past the door of a folder within a part", () => {
  const folders = files.filter((file) => file.endsWith("/index.ts")).map((file) => dirname(file));
  const reachesPast = ({ from, to }: Import) =>
    folders.some(
      (folder) => to.startsWith(`${folder}/`) && !from.startsWith(`${folder}/`) && to !== `${folder}/index.ts`,
    );
  const within = imports.filter(({ from, to }) => partOf(from) === partOf(to));
  expect(within.length).toBeGreaterThan(100);
  expect(within.filter(reachesPast)).toEqual([]);
});

test("the console's page takes nothing from the server but types", async () => {
  const page = files.filter((file) => file.startsWith("console/page/"));
  const taken = page.map(async (file) => {
    const paths = importsOfValues(file, await Bun.file(join(source, file)).text());
    const own = paths.filter((path) => path.startsWith("."));
    return own.map((path) => relative(source, resolve(source, dirname(file), path)));
  });
  expect(page.length).toBeGreaterThan(20);
  expect((await Promise.all(taken)).flat().filter((path) => !path.startsWith("console/page/"))).toEqual([]);
});

test("http/ touches no SQL, and engine/ knows no records", () => {
  const forbidden = (part: string, packages: RegExp) =>
    imports.filter(({ from, to }) => from.startsWith(`${part}/`) && packages.test(to));
  expect(forbidden("http", /^(drizzle-orm|bun:sqlite)/)).toEqual([]);
  expect(forbidden("engine", /^(transcriptions|storage)\/|^(drizzle-orm|bun:sqlite)/)).toEqual([]);
});
