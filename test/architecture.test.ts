import { describe, expect, test } from "bun:test";
import { dirname, resolve } from "node:path";
import { type Import, importsOf, importsOfValues, readSources } from "../harness/source-files.ts";
import { layers } from "./support/layers.ts";

/** Names that an entry point may export. A wider one hides nothing. */
const MAX_EXPORTED_NAMES = 25;

const source = resolve(import.meta.dir, "../src");
/** Starts the processes of the program, so it imports behind entry points that the server must not open. */
const entry = "main.ts";
const texts = await readSources(source);
texts.delete(entry);
const files = [...texts.keys()];
const imports = [...texts].flatMap(([file, text]) => importsOf(file, text));

const folderOf = (path: string) => path.split("/")[0] ?? "";
const layerOf = (folder: string) => layers.findIndex((layer) => layer.includes(folder));
const between = imports.filter(({ from, to }) => layerOf(folderOf(to)) >= 0 && folderOf(from) !== folderOf(to));

describe("the folders of src/", () => {
  test("have their place in the order of imports", () => {
    const folders = new Set(files.filter((file) => file.includes("/")).map(folderOf));
    expect([...folders].filter((folder) => layerOf(folder) < 0)).toEqual([]);
    expect(layers.flat().filter((folder) => !folders.has(folder))).toEqual([]);
    expect(between.length).toBeGreaterThan(20);
  });

  test("import in one direction", () => {
    expect(between.filter(({ from, to }) => layerOf(folderOf(from)) >= layerOf(folderOf(to)))).toEqual([]);
  });

  test("import each other by their entry points alone", () => {
    expect(between.filter(({ to }) => !/^[a-z-]+\/index\.ts$/.test(to))).toEqual([]);
  });

  test("have entry points of a bounded width", () => {
    const wide = [...texts]
      .filter(([file]) => /^[a-z-]+\/index\.ts$/.test(file))
      .map(([file, text]) => [folderOf(file), exportedNames(text)] as const)
      .filter(([, width]) => width > MAX_EXPORTED_NAMES);
    expect(wide).toEqual([]);
  });
});

/** Returns the number of names that an entry point exports. A namespace is one name. */
function exportedNames(text: string): number {
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = ""]) => names.split(","));
  const others = text.match(/^export (?:\* as|(?:async )?function|const|class|interface|type) \w/gm) ?? [];
  return lists.filter((name) => name.trim() !== "").length + others.length;
}

test("a folder with an entry point is imported by it alone, inside its parent folder too", () => {
  const folders = files.filter((file) => file.endsWith("/index.ts")).map((file) => dirname(file));
  const reachesPast = ({ from, to }: Import) =>
    folders.some(
      (folder) => to.startsWith(`${folder}/`) && !from.startsWith(`${folder}/`) && to !== `${folder}/index.ts`,
    );
  const within = imports.filter(({ from, to }) => folderOf(from) === folderOf(to));
  expect(within.length).toBeGreaterThan(100);
  expect(within.filter(reachesPast)).toEqual([]);
});

describe("the console's parts", () => {
  const partOf = (path: string) => /^console\/(?:server|page|contract)(?=\/)/.exec(path)?.[0] ?? path;
  const pageFiles = [...texts].filter(([file]) => partOf(file) === "console/page");
  const isOwn = (path: string) => path.startsWith("..") || layerOf(folderOf(path)) >= 0;

  test("are its server and its page, which share the contract and nothing else", () => {
    const inside = imports.filter(({ from, to }) => folderOf(from) === "console" && folderOf(to) === "console");
    const crossing = inside.filter(({ from, to }) => partOf(from) !== partOf(to) && from !== "console/index.ts");
    expect(crossing.length).toBeGreaterThan(20);
    expect(crossing.filter(({ to }) => to !== "console/contract/index.ts")).toEqual([]);
    expect(crossing.filter(({ from }) => partOf(from) === "console/contract")).toEqual([]);
  });

  test("meet in one place more: the server bundles the page's entry", () => {
    const naming = [...texts].filter(
      ([file, text]) => partOf(file) !== "console/page" && text.includes("page/main.tsx"),
    );
    expect(naming.map(([file]) => file)).toEqual(["console/server/bundle-page.ts"]);
    expect(texts.has("console/page/main.tsx")).toBe(true);
  });

  test("keep the server's code from the browser: the page takes one value from other folders, the table of routes", () => {
    const taken = pageFiles.flatMap(([file, text]) => importsOfValues(file, text).map((to) => ({ from: file, to })));
    expect(pageFiles.length).toBeGreaterThan(20);
    expect(taken.filter(({ to }) => isOwn(to) && partOf(to) !== "console/page")).toEqual([
      { from: "console/page/server.ts", to: "console/contract/index.ts" },
    ]);
  });

  test("work without TLS: the page requires nothing that browsers offer to secure pages alone", () => {
    const forSecurePages =
      /\bcrypto\.(?:randomUUID|subtle)|\bnavigator\.(?:clipboard|mediaDevices|serviceWorker|storage)(?!\?)/;
    expect(pageFiles.filter(([, text]) => forSecurePages.test(text)).map(([file]) => file)).toEqual([]);
  });
});

test("http/ touches no SQL; the engine, its operations and the timeline know no records", () => {
  const forbidden = (folder: string, targets: RegExp) =>
    imports.filter(({ from, to }) => from.startsWith(`${folder}/`) && targets.test(to));
  expect(forbidden("http", /^(drizzle-orm|bun:sqlite)/)).toEqual([]);
  for (const folder of ["devices", "engine", "speech", "operations", "runtimes", "blocks", "timeline"]) {
    expect(
      forbidden(
        folder,
        /^(backup|database|queue|recordings|search|segments|storage|transcripts)\/|^(drizzle-orm|bun:sqlite)/,
      ),
    ).toEqual([]);
  }
});

test("folders/ and intake/ know nothing of HTTP, not even its types", () => {
  const below = imports.filter(({ from }) => /^(?:folders|intake)\//.test(from));
  expect(below.length).toBeGreaterThan(50);
  expect(below.filter(({ to }) => /^(?:http|api|console)\/|^elysia/.test(to))).toEqual([]);
});

test("what all surfaces share imports none of them, and no surface of http/ imports another", () => {
  const surfaces = ["api", "compat", "service"];
  const surfaceOf = (path: string) => surfaces.find((each) => path.startsWith(`http/${each}/`));
  // The OpenAPI document describes the APIs for existing clients, and the service routes serve it.
  const described = /^http\/api\/openapi\//;
  const wrong = imports.filter(({ from, to }) => {
    const [ours, theirs] = [surfaceOf(from), surfaceOf(to)];
    if (theirs === undefined || from === "http/app.ts" || from === "http/index.ts") return false;
    return ours !== theirs && !described.test(from) && !described.test(to);
  });
  expect(wrong).toEqual([]);
});

test("surfaces see and change recordings through the library alone", () => {
  const surfaces = [...texts].filter(([file]) => /^(?:http|console|cli\/admin)\//.test(file));
  const rows =
    /\b(?:[rR]ecordings\.(?:get|list|create|delete|fail|keep|setHold|rows)\(|recordings\.rows\b|new Transcript\(|\.filesOf\(|\.removeFiles\()/;
  const direct = surfaces.filter(([, text]) => rows.test(text));
  expect(direct.map(([file]) => file)).toEqual([]);
});

test("no file outside the families' folders and the catalogue names a model family", () => {
  /** The family itself, the catalogue of models, and the registry of families. */
  const mayName = /^(?:speech\/recognizer\/(?:whisper\/|parakeet\/|families\.ts|index\.ts)|models\/|cli\/models\/)/;
  /** Build information names the software that the addon is built from. */
  const notices = /^program\/contents\.ts$/;
  /** OpenAI's names of models and languages, which its clients send. */
  const clientNames = /^http\/(?:compat\/|api\/openapi\/openai-paths\.ts$)/;
  /** The name of an export format, which other programs read. */
  const formatNames =
    /^(?:exports\/(?:formats|json-formats|text-formats)\.ts|console\/page\/strings\.ts|http\/api\/openapi\/export-answers\.ts)$/;
  /** A setting, a check, a file of the native build, and another program: users and scripts depend on these names. */
  const publicNames = /\b(?:engine\.)?whisper_model\b|"model\.whisper"|\bwhisper\.node\b|\bwhisper-asr-webservice\b/g;
  const comments = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
  const named = [...texts].filter(
    ([file, text]) =>
      !mayName.test(file) &&
      !notices.test(file) &&
      !clientNames.test(file) &&
      !formatNames.test(file) &&
      /whisper|parakeet/i.test(text.replaceAll(comments, "").replaceAll(publicNames, "")),
  );
  expect(named.map(([file]) => file)).toEqual([]);
});
