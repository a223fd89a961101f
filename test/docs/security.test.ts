import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { pageNamed } from "./pages.ts";

/** Returns the rows of the threat tables: threat, protection, test. */
const rows = pageNamed("docs/security.md")
  .text.split("\n## Threats, protections and tests\n")[1]
  ?.split("\n## ")[0]
  ?.split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| threat "))
  .map((line) => line.slice(2, -2).split(" | "));

/** A test file, followed by names of its tests. */
const CITED = /`(test\/[\w./-]+)`(?:: ((?:"[^"]+"(?:, )?)+))?/g;

function citedIn(cell: string): { readonly file: string; readonly names: string[] }[] {
  return [...cell.matchAll(CITED)].map(([, file = "", names = ""]) => ({
    file,
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name),
  }));
}

describe("docs/security.md", () => {
  test("names a test for each threat", () => {
    expect(rows?.length).toBeGreaterThan(30);
    expect(rows?.filter((cells) => cells.length !== 3 || citedIn(cells[2] ?? "").length === 0)).toEqual([]);
  });

  test("names tests that exist", () => {
    const missing = (rows ?? [])
      .flatMap((cells) => citedIn(cells[2] ?? ""))
      .filter(({ file, names }) => {
        if (!existsSync(join(root, file))) return true;
        const text = readFileSync(join(root, file), "utf8");
        return names.some((name) => !text.includes(name));
      });
    expect(missing).toEqual([]);
  });
});
