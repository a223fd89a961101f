import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { layers } from "../support/layers.ts";
import { documents, type Page, pageNamed } from "./pages.ts";

const architecture = pageNamed("docs/architecture.md").text;
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** Returns the paths of the repository that a document names, in its sentences and its blocks. */
function pathsIn({ text }: Page): string[] {
  const span = /(?<![\w./-])(?:src|test|scripts|native|models|docs|deploy|harness|tools|sdk|licences)\/[\w.-][\w./-]*/g;
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = ""]) => [...code.matchAll(span)]);
  const blocks = [...text.matchAll(/^```\w*[^\n]*\n(.*?)^```$/gms)].flatMap(([, code = ""]) => [
    ...code.matchAll(/(?<![\w./-])(?:scripts|tools)\/[\w./-]+/g),
  ]);
  return [...quoted, ...blocks].map(([path]) => path.replace(/[./]+$/, ""));
}

/** Paths of other trees, and of folders that an operator creates. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  "docs/container.md": ["deploy/fleet/coordinator"],
  // A script of whisper.cpp.
  "docs/models.md": ["models/convert-parakeet-to-ggml.py"],
};

/** Returns whether a path exists, or begins the name of a file or files, such as `native/patches/0018`. */
function exists(path: string): boolean {
  if (existsSync(join(root, path))) return true;
  const folder = join(root, dirname(path));
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(basename(path)));
}

const sources = [
  ...new Bun.Glob("{sdk,src,native,harness,tools,test,models}/**/*.{ts,tsx}").scanSync({ cwd: root }),
].filter((file) => !file.includes("node_modules/"));

test.each(documents.map((page) => [page.name, page] as const))(
  "%s names files and folders that exist",
  (name, page) => {
    // A word in capitals stands for a name.
    const named = pathsIn(page).filter((path) => !/[A-Z]{2}/.test(path));
    const missing = new Set(named.filter((path) => !exists(path) && !exists(join(dirname(name), path))));
    expect([...missing].sort()).toEqual([...(elsewhere[name] ?? [])].sort());
  },
);

test.each(documents.map((page) => [page.name, page] as const))(
  "%s names TypeScript files that exist",
  (_, { text }) => {
    const named = [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, path = ""]) => path);
    const isThere = (path: string) =>
      sources.some((file) => `/${file}`.endsWith(`/${path.replace(/^(?:\.+\/)+/, "")}`));
    expect(named.filter((path) => !path.startsWith("x.") && !isThere(path))).toEqual([]);
  },
);

test("the check of paths finds those that are in sentences, in tables and in commands", () => {
  const text = "`src/gone.ts` and `bun tools/gone.ts build`\n| `a` | `test/gone/` |\n```sh\nscripts/gone --all\n```\n";
  expect(pathsIn({ name: "x.md", path: "/x.md", text })).toEqual([
    "src/gone.ts",
    "tools/gone.ts",
    "test/gone",
    "scripts/gone",
  ]);
});

describe("docs/architecture.md", () => {
  test("lists the folders of src/, the highest layer first", () => {
    const listed = [...architecture.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name = ""]) => name);
    expect(listed).toEqual(layers.flat());
    expect(listed.toSorted()).toEqual(foldersIn("src"));
  });

  test("has a diagram of the layers that the imports have", () => {
    const [, diagram = ""] = /^flowchart TD\n(.*?)^```$/ms.exec(architecture) ?? [];
    const chains = diagram
      .trim()
      .split("\n")
      .map((line) => line.split(" --> ").map((group) => group.trim().split(" & ")));
    // Each line continues with the layer at which the one before ends.
    const joined = chains.flatMap((chain, line) => {
      if (line > 0) expect(chain[0]).toEqual(chains[line - 1]?.at(-1) ?? []);
      return line === 0 ? chain : chain.slice(1);
    });
    expect(joined).toEqual(layers.map((layer) => [...layer]));
  });

  test("lists the internal commands that src/main.ts chooses", async () => {
    const commands = (text: string) => new Set(text.match(/\b__[a-z]+\b/g));
    const main = await Bun.file(join(root, "src/main.ts")).text();
    const processes = await Bun.file(join(root, "src/program/processes.ts")).text();
    expect([...commands(architecture)].sort()).toEqual([...commands(main + processes)].sort());
  });
});

describe("README.md", () => {
  const { text } = pageNamed("README.md");
  const rows = [...text.matchAll(/^\| `([a-z]+)\/` \| (.*) \|$/gm)];

  test("lists the folders of the repository", () => {
    const made = ["node_modules", "dist"];
    const folders = foldersIn(".").filter((name) => !name.startsWith(".") && !made.includes(name));
    expect(rows.map(([, name]) => name).toSorted()).toEqual([...new Set([...folders, "build"])].sort());
  });

  test("lists the commands of scripts/", () => {
    const listed = rows.find(([, name]) => name === "scripts")?.[2]?.match(/(?<=`)[a-z-]+(?=`)/g) ?? [];
    expect(listed.toSorted()).toEqual(readdirSync(join(root, "scripts")).sort());
  });
});

describe("CONTRIBUTING.md", () => {
  const { text } = pageNamed("CONTRIBUTING.md");

  test("names the folders of test/ that are not folders of src/, which all have one", () => {
    const tested = foldersIn("test");
    expect(foldersIn("src").filter((name) => !tested.includes(name))).toEqual([]);
    const [, sentence = ""] = /The other folders of\s+`test\/` are (.*?)\. /s.exec(text) ?? [];
    const listed = [...sentence.matchAll(/`([a-z0-9]+)`/g)].map(([, name = ""]) => name);
    expect(listed).toEqual(tested.filter((name) => !foldersIn("src").includes(name)));
  });

  test("names the suffixes of test files that there are", () => {
    const files = [...new Bun.Glob("**/*.test.ts").scanSync({ cwd: join(root, "test") })];
    const sizes = new Set(files.map((file) => /\.([a-z]+)\.test\.ts$/.exec(file)?.[1] ?? ""));
    const listed = [...text.matchAll(/`x\.(?:([a-z]+)\.)?test\.ts`/g)].map(([, size = ""]) => size);
    expect(listed.toSorted()).toEqual([...sizes].sort());
  });
});

test("docs/decisions/README.md lists each record with its title", () => {
  const records = documents.filter(({ name }) => /^docs\/decisions\/\d/.test(name));
  const index = pageNamed("docs/decisions/README.md").text;
  const listed = [...index.matchAll(/^\| \[(\d{4})\]\((.*)\) \| (.*) \|$/gm)].map((row) => row.slice(1));
  const titles = records.map(({ name, text }) => {
    const file = name.replace("docs/decisions/", "");
    const [, number = "", title = ""] = /^# (\d+)\. (.*)$/m.exec(text) ?? [];
    return [number.padStart(4, "0"), file, title];
  });
  expect(listed).toEqual(titles);
  expect(titles.map(([number = "", file = ""]) => file.startsWith(number))).not.toContain(false);
});
