/** One row of the table: the measurement, the data behind it, and its target. */
export interface Row {
  readonly measured: string;
  readonly value: string;
  /** The data behind the value. */
  readonly over: string;
  readonly target: string;
  readonly ok: boolean;
}

export interface PartOptions {
  readonly seed: number;
  /** Length of the long recording in hours; by default the part's own. */
  readonly hours?: number | null;
  /** Reports progress to a terminal. */
  readonly reportProgress: (text: string) => void;
}

/** A part of scripts/endurance. It creates its files and servers and removes them afterwards. */
export type Part = (options: PartOptions) => Promise<Row[]>;

export function row(measured: string, value: string | number, over: string, target: string, ok: boolean): Row {
  return { measured, value: String(value), over, target, ok };
}

/** Returns a row that has no target. */
export function figure(measured: string, value: string, over: string): Row {
  return row(measured, value, over, "", true);
}

/** Returns a row of faults, of which there must be none. @param found their number, or a description of each */
export function none(measured: string, found: number | readonly string[], over: string): Row {
  const descriptions = typeof found === "number" ? [] : found;
  const count = typeof found === "number" ? found : found.length;
  return row(measured, count, [over, ...descriptions].join("; "), "0", count === 0);
}

/** Returns a row of things that must all have a property. */
export function all(measured: string, count: number, of: number, over: string): Row {
  return row(measured, `${count} of ${of}`, over, "all", of > 0 && count === of);
}

/** Returns a row of a duration with a maximum. */
export function atMost(measured: string, seconds: number, limit: number, over: string): Row {
  return row(measured, `${seconds.toFixed(1)} s`, over, `${limit} s`, seconds <= limit);
}

/** Returns the table of a part that cannot run here. */
export function notRun(part: string, why: string): Row[] {
  return [row(part, "not run", why, "", false)];
}
