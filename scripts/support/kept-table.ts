/**
 * A page with another table in the place of the one it has, between two comments that name what writes it.
 * @param writer the command, e.g. `scripts/evaluate --write`
 * @throws Error where the page has no place for one
 */
export function withKeptTable(page: string, writer: string, table: string): string {
  const [begin, end] = ["from", "to"].map((edge) => `<!-- ${writer}: ${edge} here -->`) as [string, string];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no place for the table that ${writer} makes`);
  return `${page.slice(0, from)}${begin}\n${table}\n${page.slice(to)}`;
}
