import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { recordingsFolder, root } from "../harness/checkout.ts";
import { circlesIn, importsOf, readSources } from "../harness/source-files.ts";

/**
 * The purposes below tools/, and the purposes from which each imports. A purpose imports only from those listed before
 * it, so purposes import in one direction.
 */
const purposes: Readonly<Record<string, readonly string[]>> = {
  models: [],
  conformance: [],
  corpus: [],
  development: ["models", "conformance", "corpus"],
  build: ["development"],
  release: ["build", "development"],
  evaluate: ["corpus"],
  bench: ["corpus"],
  endurance: [],
  fuzz: [],
};

/** The folders from which each folder imports. Tests import from all, and nothing imports from them. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  /** The client of the API is published by itself. */
  sdk: [],
  src: ["sdk"],
  native: [],
  "tools/shared": ["src", "native"],
  harness: ["src", "native", "tools/shared"],
  ...Object.fromEntries(
    Object.entries(purposes).map(([purpose, others]) => [
      `tools/${purpose}`,
      ["src", "native", "tools/shared", "harness", ...others.map((other) => `tools/${other}`)],
    ]),
  ),
};

/** Imports of files of src/ that are no entry points, with the reason for each. No entry may be added. */
const internals: readonly (readonly [reason: string, from: string, files: readonly string[]])[] = [
  [
    "random models have each tensor that the loader expects",
    "harness",
    [
      "speech/recognizer/ggml-file/index",
      "speech/recognizer/parakeet/model-file/index",
      "speech/recognizer/whisper/model-file/expected-tensors",
      "speech/recognizer/whisper/model-file/index",
    ],
  ],
  [
    "results of single steps are prepared and measured without a worker",
    "harness",
    [
      "pipeline/assign-speakers",
      "pipeline/fit-to-turns",
      "pipeline/second-pass",
      "speech/diarization/activity",
      "speech/diarization/index",
    ],
  ],
  [
    "the speed of the native code is measured without a server",
    "tools/bench",
    [
      "devices/choose-gpus",
      "devices/lane-shares",
      "devices/tune-device",
      "speech/recognizer/index",
      "speech/recognizer/whisper/index",
    ],
  ],
  [
    "sessions are played in virtual time",
    "tools/bench",
    ["live/session/session-sound", "live/session/session-text", "live/session/session-work", "live/sound/index"],
  ],
  [
    "a random model for measurements",
    "tools/bench",
    ["speech/recognizer/ggml-file/index", "speech/recognizer/whisper/model-file/expected-tensors"],
  ],
  [
    "an engine without models gives results in the stored form",
    "tools/bench",
    [
      "speech/diarization/activity",
      "speech/diarization/clean-speech",
      "speech/diarization/sentence-voices",
      "speech/diarization/voices",
    ],
  ],
  ["states that share graphs are compared without a server", "tools/evaluate", ["speech/recognizer/whisper/index"]],
  ["the loader's verdicts are compared with this check", "tools/fuzz", ["speech/recognizer/whisper/model-file/index"]],
  [
    "models are obtained with the program's own checks",
    "tools/models",
    ["models/catalogue", "models/convert/ctranslate2-file", "models/digests", "models/download"],
  ],
  ["the program file's description lists its migrations", "tools/build", ["database/migrate"]],
  ["the program file ends with the description of the inner program", "tools/build", ["program/inner-program"]],
  ["an image contains the unpacked program", "tools/release", ["program/inner-program"]],
  [
    "packages contain the unit, the completion scripts and the paths of the program",
    "tools/release",
    ["cli/completion/bash-and-zsh", "cli/completion/fish", "cli/completion/places", "install/layout", "install/unit"],
  ],
  ["signatures of a test's key", "tools/release", ["verification/minisign"]],
  [
    "pages and clients are generated from these descriptions",
    "tools/development",
    ["http/shared/errors", "http/api/openapi/index"],
  ],
];

/** A list of values on which a build and the server have to agree. */
const sharedList = "native/ffmpeg/formats.ts";

const texts = await readSources(root, "{sdk,src,native,harness,tools,test}/**/*.{ts,tsx}");
const isOwn = (path: string) => /^(?:sdk|src|native|harness|tools|test)\//.test(path);
const allImports = [...texts]
  .flatMap(([file, text]) => importsOf(file, text))
  .filter(({ to }) => isOwn(to) && to !== sharedList);
const imports = allImports.filter(({ from }) => !from.startsWith("test/"));

const folderOf = (path: string) => path.split("/", path.startsWith("tools/") ? 2 : 1).join("/");
const between = imports.filter(({ from, to }) => folderOf(from) !== folderOf(to));

describe("sdk/, src/, native/, harness/ and the purposes of tools/", () => {
  test("import in one direction, and nothing from the tests", () => {
    const names = Object.keys(purposes);
    const backwards = Object.entries(purposes).filter(([purpose, others]) =>
      others.some((other) => !names.slice(0, names.indexOf(purpose)).includes(other)),
    );
    expect(backwards).toEqual([]);
    expect(between.length).toBeGreaterThan(100);
    expect(between.filter(({ from, to }) => mayImport[folderOf(from)]?.includes(folderOf(to)) !== true)).toEqual([]);
  });

  test("take from src/ the entry points, and the listed files", () => {
    const isListed = (from: string, to: string) =>
      internals.some(([, folder, files]) => folderOf(from) === folder && files.some((file) => to === `src/${file}.ts`));
    const taken = between.filter(({ to }) => to.startsWith("src/") && !/^src\/[a-z-]+\/index\.ts$/.test(to));
    expect(taken.filter(({ from, to }) => !isListed(from, to))).toEqual([]);
    const unused = internals.flatMap(([, folder, files]) =>
      files.filter((file) => !taken.some(({ from, to }) => folderOf(from) === folder && to === `src/${file}.ts`)),
    );
    expect(unused).toEqual([]);
  });

  test("take from sdk/ its entry point, which only the command line imports", () => {
    const taken = between.filter(({ to }) => folderOf(to) === "sdk");
    expect(taken.length).toBeGreaterThan(0);
    const isEntryPoint = ({ from, to }: (typeof taken)[number]) =>
      from.startsWith("src/cli/") && to === "sdk/typescript/src/index.ts";
    expect(taken.filter((found) => !isEntryPoint(found))).toEqual([]);
  });

  test("have no file that imports itself through others, by values or by types", () => {
    expect(circlesIn(imports)).toEqual([]);
  });
});

describe("helpers of tests", () => {
  const isTest = (path: string) => /\.test\.tsx?$/.test(path);
  const importers = Map.groupBy(allImports, ({ to }) => to);
  const filesIn = (folder: string) => [...texts.keys()].filter((path) => path.startsWith(folder) && !isTest(path));
  /** Returns the users of a file outside its folder, directly or through helpers there, by the names of their places. */
  const usersOf = (file: string, folder: string, placeOf: (path: string) => string) => {
    const reached = new Set([file]);
    for (const path of reached) {
      if (!path.startsWith(folder) || isTest(path)) continue;
      for (const { from } of importers.get(path) ?? []) reached.add(from);
    }
    return new Set([...reached].filter((path) => !path.startsWith(folder)).map(placeOf));
  };
  const testFolderOf = (path: string) => path.split("/")[1] ?? "";

  test("are in harness/ if a tool and tests, or tools of several purposes, need them", () => {
    const placeOf = (path: string) => (path.startsWith("test/") ? "tests" : folderOf(path));
    const misplaced = filesIn("harness/").filter((file) => {
      const places = usersOf(file, "harness/", placeOf);
      return places.size < 2 || ![...places].some((place) => place.startsWith("tools/"));
    });
    expect(misplaced).toEqual([]);
  });

  test("are in test/support/ if tests of several folders need them", () => {
    // bunfig.toml names the first; the second is a program that scripted-engine.ts starts.
    const named = ["test/support/preload.ts", "test/support/scripted-worker.ts"];
    const helpers = filesIn("test/support/").filter((file) => !named.includes(file));
    expect(helpers.filter((file) => usersOf(file, "test/support/", testFolderOf).size < 2)).toEqual([]);
  });

  test("are in the folder of their tests otherwise", () => {
    const elsewhere = allImports.filter(({ from, to }) => {
      const isHelper = texts.has(to) && /^test\/(?!support\/)/.test(to) && !isTest(to);
      return isHelper && testFolderOf(from) !== testFolderOf(to);
    });
    expect([...new Set(elsewhere.map(({ to }) => to))]).toEqual([]);
  });
});

describe("the repository", () => {
  test("stands alone: no file reads a path above it", async () => {
    const sources = await readSources(
      root,
      "{.ci,scripts,sdk,src,native,harness,tools,test,deploy}/**/*.{ts,tsx,py,cmake,txt}",
    );
    for (const [path, text] of await readSources(root, "{.ci,scripts}/*")) sources.set(path, text);
    const above = [...sources].flatMap(([file, text]) => {
      const fromRoot = [...text.matchAll(/(?:\b(?:root|REPOSITORY)\b,? ?["'`]|\$\{?root\}?\/)(\.\.[^"'`\s]*)/gi)];
      const fromFile = [...text.matchAll(/(?:\bfrom |\bimport\(|import\.meta\.dir, )"(\.\.[^"]*)"/g)];
      const paths = [
        ...fromRoot.map(([, path = ""]) => join(path)),
        ...fromFile.map(([, path = ""]) => join(dirname(file), path)),
        ...[...text.matchAll(/\.\.\/shared\/(?:audio|cases|models)/g)].map(([path]) => path),
      ];
      return paths.filter((path) => path.startsWith("..")).map((path) => `${file}: ${path}`);
    });
    expect(sources.size).toBeGreaterThan(1000);
    expect(above).toEqual([]);
  });

  test("contains the recordings that its tests need, each with its licence and its source, in 14 MB", async () => {
    const manifest: { path: string; licence?: string; source?: string }[] = await Bun.file(
      join(recordingsFolder, "manifest.json"),
    ).json();
    const named = new Set(manifest.map(({ path }) => path));
    expect(manifest.filter(({ licence, source }) => !licence || !source).map(({ path }) => path)).toEqual([]);
    const files = [...new Glob("{single,dialogue,utterances,formats,cases}/*").scanSync(recordingsFolder)];
    const isSound = (path: string) => !/\.(?:rttm|json)$/.test(path);
    const unnamed = files.filter(
      (path) => /^(?:single|dialogue|formats)\//.test(path) && isSound(path) && !named.has(path),
    );
    expect(unnamed).toEqual([]);
    expect(files.length).toBeGreaterThan(150);
    const bytes = files.reduce((sum, path) => sum + Bun.file(join(recordingsFolder, path)).size, 0);
    expect(bytes).toBeLessThan(14_000_000);
  });
});

describe("the folders tools/ and harness/", () => {
  const readme = (folder: string) => Bun.file(join(root, folder, "README.md")).text();
  const entriesOf = (folder: string) => readdirSync(join(root, folder)).filter((name) => name !== "README.md");

  test("have a README that names each folder of tools/ with a sentence", async () => {
    const rows = [...(await readme("tools")).matchAll(/^\| `([a-z]+)\/` \| ([^|]{20,}) \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(entriesOf("tools").sort());
    expect(rows.filter((name) => name !== "shared").toSorted()).toEqual(Object.keys(purposes).toSorted());
  });

  test("have a README that names each file of harness/", async () => {
    const text = await readme("harness");
    expect(entriesOf("harness").filter((name) => !new RegExp(`\`${RegExp.escape(name)}/?\``).test(text))).toEqual([]);
  });

  test("have code that is reached from scripts/ and the commands of the README alone", async () => {
    const started = await readSources(root, "scripts/*");
    started.set("tools/README.md", [...(await readme("tools")).matchAll(/`bun (\S+)/g)].join("\n"));
    const code = await readSources(root, "{tools,harness}/**/*");
    const names = (file: string, text: string) => pathsIn(file, text).filter((path) => code.has(path));
    const reached = new Set([...started].flatMap(([file, text]) => names(file, text)));
    for (const file of reached) for (const next of names(file, code.get(file) ?? "")) reached.add(next);
    const unreached = [...code.keys()].filter((path) => /^tools\/.*\.(?:ts|py)$/.test(path) && !reached.has(path));
    expect(reached.size).toBeGreaterThan(100);
    expect(unreached).toEqual([]);
  });

  test("are named by paths that exist, in commands and hooks", async () => {
    const commands = new Map([...(await readSources(root, "scripts/*")), ...(await readSources(root, "tools/**/*"))]);
    const missing = [...commands]
      .filter(([, text]) => text.startsWith("#!/usr/bin/env bash"))
      .flatMap(([file, text]) => {
        const sourced = [...text.matchAll(/^source .*\)"?\)\/(\S+)"$/gm)].map(([, path = ""]) =>
          join(dirname(file), path),
        );
        const named = [...text.matchAll(/\btools\/[\w./-]+/g)].map(([path]) => path);
        return [...sourced, ...named].filter((path) => !commands.has(path)).map((path) => `${file}: ${path}`);
      });
    const listed = [...(await readme("tools")).matchAll(/`bun (\S+?\.ts)/g)].map(([, path = ""]) => path);
    expect([...missing, ...listed.filter((path) => !commands.has(path))]).toEqual([]);
    expect(listed.length).toBeGreaterThan(1);
  });
});

/** Returns the paths that a file may name: from the root, from its own folder, or as Python modules. */
function pathsIn(file: string, text: string): string[] {
  const words = [...new Set(text.match(/[\w.$/-]+/g))].map((word) => word.replace(/^\$root\/|\.$/, ""));
  const modules = [...text.matchAll(/^(?:from|import) (\w+)/gm)].flatMap(([, name]) => [
    `${name}.py`,
    `../onnx/${name}.py`,
  ]);
  return [...words, ...(file.endsWith(".py") ? modules : [])].flatMap((word) => [word, join(dirname(file), word)]);
}
