import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { anchorsOf, documents, localLinksOf, pages } from "./pages.ts";

test.each(documents.map((page) => [page.name, page] as const))("every link in %s has a target", (_, page) => {
  const broken = localLinksOf(page).filter(({ path, anchor }) => {
    if (!existsSync(path)) return true;
    if (anchor === "") return false;
    return !anchorsOf({ name: path, path, text: readFileSync(path, "utf8") }).includes(anchor);
  });
  expect(broken.map(({ link }) => link)).toEqual([]);
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
