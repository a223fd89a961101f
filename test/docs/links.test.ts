import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { anchorsOf, localLinksOf, pageNamed, pages } from "./pages.ts";

test.each(pages.map((page) => [page.name, page] as const))("every link in %s has a target", (_, page) => {
  const broken = localLinksOf(page).filter(({ path, anchor }) => {
    if (!existsSync(path)) return true;
    if (anchor === "") return false;
    return !anchorsOf({ name: path, path, text: readFileSync(path, "utf8") }).includes(anchor);
  });
  expect(broken.map(({ link }) => link)).toEqual([]);
});

test.each(["docs/architecture.md", "CONTRIBUTING.md"])("%s names files and folders that exist", (name) => {
  const text = readFileSync(join(root, name), "utf8");
  const paths = [...text.matchAll(/`((?:src|test|scripts|native|models|docs)\/[\w./-]*)`/g)].map(
    (match) => match[1] ?? "",
  );
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("docs/architecture.md lists every folder of src/", () => {
  const { text } = pageNamed("docs/architecture.md");
  const listed = [...text.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]);
  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(listed.toSorted()).toEqual(folders.map(({ name }) => name).sort());
});

test("README.md names every part of the program", () => {
  const parts = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const linked = localLinksOf(pageNamed("README.md")).map(({ link }) => link);
  expect(parts.map(({ name }) => `src/${name}`).filter((path) => !linked.includes(path))).toEqual([]);
});

test("README.md leads to every page", () => {
  const reached = new Set(["README.md"]);
  for (let before = 0; before !== reached.size; ) {
    before = reached.size;
    for (const page of pages.filter(({ name }) => reached.has(name))) {
      const linked = new Set(localLinksOf(page).map(({ path }) => path));
      for (const other of pages) if (linked.has(other.path)) reached.add(other.name);
    }
  }
  expect(pages.map(({ name }) => name).filter((name) => !reached.has(name))).toEqual([]);
});
