import { expect, test } from "bun:test";
import { pageNamed } from "./pages.ts";

/** A row of a table whose figures come from another page. */
interface FigureRow {
  readonly row: string;
  readonly page: string;
  readonly figures: readonly string[];
}

/** Returns the rows of a page that link to a page of measurements. The first cell says what was measured. */
function figureRows(of: string): FigureRow[] {
  return [...pageNamed(of).text.matchAll(/^\|(.*)\|$/gm)].flatMap(([, row = ""]) => {
    const page = /\]\((?:docs\/)?((?:benchmarks|quality|gpu)\.md)\)/.exec(row)?.[1];
    if (page === undefined) return [];
    const [, ...cells] = row.replaceAll(/\[[^\]]*\]\([^)]*\)|`[^`]*`/g, "").split("|");
    const figures = cells.flatMap((cell) => cell.match(/\d+(?:\.\d+)?(?: %)?/g) ?? []);
    return [{ row: `${of}: ${row.trim()}`, page: `docs/${page}`, figures }];
  });
}

const rows = figureRows("README.md");
const operations = figureRows("docs/operations.md");

test.each([...rows, ...operations].map(({ row, ...rest }) => [row.slice(0, 80), rest] as const))(
  "figures are those of the page that their row names: %s",
  (_, { page, figures }) => {
    const { text } = pageNamed(page);
    const isThere = (figure: string) => new RegExp(`(?<![\\d.])${figure.replaceAll(".", "\\.")}(?![\\d.])`).test(text);
    expect(figures.length).toBeGreaterThan(0);
    expect(figures.filter((figure) => !isThere(figure))).toEqual([]);
  },
);

test("README.md names the command of each figure, and compares programs on three kinds of machine", () => {
  expect(rows.filter(({ row }) => !row.includes("`scripts/"))).toEqual([]);
  const measured = rows.map(({ row }) => row).join("\n");
  for (const machine of ["AVX-512", "AVX2 only", "NVIDIA"]) expect(measured).toContain(machine);
});

test("README.md and docs/operations.md give the same figures for the same subject", () => {
  const figuresBySubject = (page: string) =>
    new Map(
      [...pageNamed(page).text.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)].map(([, subject = "", figures = ""]) => [
        subject.replace(/ \(.*\)/, ""),
        figures.replace(/ and up to .* process/, ""),
      ]),
    );
  const inReadme = figuresBySubject("README.md");
  const common = [...figuresBySubject("docs/operations.md")].filter(([subject]) => inReadme.has(subject));
  expect(common.length).toBeGreaterThan(1);
  expect(common.filter(([subject, figures]) => inReadme.get(subject) !== figures)).toEqual([]);
});
