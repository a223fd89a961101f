import { escapedJson } from "./printable.ts";

/** Prints a command's result: as JSON for programs, or as text for people. */
export function print(json: boolean, value: unknown, forPeople: () => string): void {
  process.stdout.write(json ? `${escapedJson(value)}\n` : `${forPeople()}\n`);
}

/** Formats rows below a header; each column is as wide as its longest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, Bun.stringWidth(row[column] ?? "")), title.length),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell))))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats a time in ISO 8601; null becomes a dash. */
export function date(milliseconds: number | null): string {
  return milliseconds === null ? "-" : new Date(milliseconds).toISOString();
}

/** Formats a time in ISO 8601 for programs; null stays null. */
export function optionalDate(milliseconds: number | null): string | null {
  return milliseconds === null ? null : date(milliseconds);
}
