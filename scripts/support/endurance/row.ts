/** One line of the table: what was measured, over how much, and what it should be. */
export interface Row {
  readonly measured: string;
  readonly value: string;
  /** What it was measured over. */
  readonly over: string;
  readonly target: string;
  readonly ok: boolean;
}

/** What a part is run with. */
export interface PartOptions {
  /** What is drawn by lot follows from it. */
  readonly seed: number;
  /** Length of the long recording, in hours, where another than the part's own is wanted. */
  readonly hours?: number | null;
  /** Says how far it is, for a terminal. */
  readonly say: (text: string) => void;
}

/** One trial: it makes what it needs, and leaves nothing behind. */
export type Part = (options: PartOptions) => Promise<Row[]>;

export const mib = 1024 ** 2;

export function inMib(bytes: number): string {
  return `${Math.round(bytes / mib)} MiB`;
}
