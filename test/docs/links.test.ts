import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/checkout.ts";
import { anchorsOf, localLinksOf, pageNamed, pages } from "./pages.ts";

test.each(pages.map((page) => [page.name, page] as const))("every link in %s has a target", (_, page) => {
  const broken = localLinksOf(page).filter(({ path, anchor }) => {
    if (!existsSync(path)) return true;
    if (anchor === "") return false;
    return !anchorsOf({ name: path, path, text: readFileSync(path, "utf8") }).includes(anchor);
  });
  expect(broken.map(({ link }) => link)).toEqual([]);
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
