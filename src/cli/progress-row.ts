import { fitted } from "./printable.ts";

/** Progress of one task. */
export interface RowState {
  readonly label: string;
  step: string;
  /** 0 to 100; null if it can't be measured. */
  percent: number | null;
}

const barColumns = 20;
const percentColumns = "100 %".length;
const stepColumns = "Speaker diarization".length;
const narrowest = 8;

/** Formats a row of at most `columns` columns: label, bar, percent, step. A narrow terminal gets no bar. */
export function rowText(row: RowState, labelColumns: number, columns: number, unicode: boolean): string {
  const percent = (row.percent === null ? (unicode ? "…" : "..") : `${Math.floor(row.percent)} %`).padStart(
    percentColumns,
  );
  const room = columns - percentColumns - stepColumns - barColumns - 6;
  const parts =
    room >= narrowest
      ? [padded(row.label, Math.min(labelColumns, room)), bar(row.percent ?? 0, unicode), percent, row.step]
      : [padded(row.label, Math.max(narrowest, Math.min(labelColumns, columns - 28))), percent, row.step];
  return fitted(parts.join("  "), columns);
}

function bar(percent: number, unicode: boolean): string {
  const filled = Math.max(0, Math.min(barColumns, Math.floor((percent * barColumns) / 100)));
  return (unicode ? "█" : "#").repeat(filled) + (unicode ? "░" : "-").repeat(barColumns - filled);
}

/** Shortens or pads a text to a width. Wide characters take two columns, which `padEnd` does not consider. */
function padded(text: string, columns: number): string {
  const short = fitted(text, columns);
  return short + " ".repeat(Math.max(0, columns - Bun.stringWidth(short)));
}
