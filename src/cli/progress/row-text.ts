import { fitted } from "../printable.ts";

/** How far one thing is. */
export interface RowState {
  readonly label: string;
  readonly step: string;
  /** 0 to 100; null where nothing can be measured. */
  readonly percent: number | null;
}

const barColumns = 20;
const percentColumns = "100 %".length;
const stepColumns = 12;
const narrowest = 8;

/** One row in at most `columns` columns: label, bar, percent, step; a narrow terminal gets no bar. */
export function rowText(row: RowState, labelColumns: number, columns: number, unicode: boolean): string {
  const percent = (row.percent === null ? (unicode ? "…" : "..") : `${Math.floor(row.percent)} %`).padStart(
    percentColumns,
  );
  const room = columns - percentColumns - stepColumns - barColumns - 6;
  const parts =
    room >= narrowest
      ? [padded(row.label, Math.min(labelColumns, room)), bar(row.percent ?? 0, unicode), percent, row.step]
      : [padded(row.label, Math.max(narrowest, Math.min(labelColumns, columns - 22))), percent, row.step];
  return fitted(parts.join("  "), columns);
}

function bar(percent: number, unicode: boolean): string {
  const filled = Math.max(0, Math.min(barColumns, Math.floor((percent * barColumns) / 100)));
  return (unicode ? "█" : "#").repeat(filled) + (unicode ? "░" : "-").repeat(barColumns - filled);
}

/** Wide characters take two columns, so `padEnd` won't do. */
function padded(text: string, columns: number): string {
  const short = fitted(text, columns);
  return short + " ".repeat(Math.max(0, columns - Bun.stringWidth(short)));
}
