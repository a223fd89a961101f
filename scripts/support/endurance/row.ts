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
  /** Says how far it is, for a terminal. */
  readonly say: (text: string) => void;
}
