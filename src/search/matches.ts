import type { Store } from "../database/index.ts";
import type { SearchQuery } from "./search-query.ts";

/** A value above all numbers of recordings. */
export const ABOVE_ALL_NUMBERS = 2 ** 41;
/** Cost of looking up the account of a recording, in rows. */
const LOOKUP_ROWS = 5;
/** Cost of a statement, in rows. */
const STATEMENT_ROWS = 100;
/** Maximum number of a viewer's recordings whose numbers are read for a search, in some tens of milliseconds. */
const MAX_NUMBERS = 10_000;

/** Number of matching rows of a recording, or of hidden recordings, after which the scan skips the rest. */
const ROWS_BEFORE_SKIP = 200;
/** Number of a recording's matching rows that are returned: one more than are shown. */
const FIRST_ROWS = 4;

/** Rows that match below a number, in descending order. */
const matchesFromAbove = `SELECT rowid >> 21 AS number, rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ? AND rowid < (? << 21) ORDER BY rowid DESC`;
const rowsOfOne = `SELECT rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ?1 AND rowid BETWEEN ?2 << 21 AND (?2 << 21) + 2097151 ORDER BY rowid LIMIT ${FIRST_ROWS}`;

/** A row of the index and the number of its recording. */
interface MatchingRow {
  readonly number: number;
  readonly row: number;
}

/** A recording that matches, by its number. */
interface Match {
  readonly number: number;
  /** The lowest few of its matching rows. */
  readonly firstRows: readonly number[];
}

/** The numbers of the recordings that a viewer sees. */
interface VisibleNumbers {
  /** Cost of `has`, in rows. */
  readonly cost: number;
  has(number: number): boolean;
  /** Returns a number below which the viewer's recordings before another number are; null if there are none. */
  skipTo(number: number): number | null;
}

/** Some matches, in descending order. */
interface Matches {
  readonly matches: readonly Match[];
  /** Cost of reading them, in rows. */
  readonly cost: number;
  /** Number below which the next ones begin; null after the last match. */
  readonly next: number | null;
}

/** Reads the next matches in visible recordings. @param most maximum number of them, and cost after which they end */
export function readMatches(
  { $client }: Store,
  query: SearchQuery,
  visible: VisibleNumbers,
  below: number,
  most: { readonly matches: number; readonly cost: number },
): Matches {
  const { expression, hasPrefix } = query;
  // For a prefix, each statement merges all words that begin with it; other words are found at once. A new statement,
  // which skips rows, is therefore cheap only without a prefix.
  const rowsBeforeSkip = hasPrefix ? Number.POSITIVE_INFINITY : ROWS_BEFORE_SKIP;
  const matches: Match[] = [];
  let cost = 0;
  let next: number | null = below;
  while (next !== null && cost < most.cost && matches.length < most.matches) {
    using statement = $client.prepare<MatchingRow, [string, number]>(matchesFromAbove);
    const rows: Iterable<MatchingRow> = statement.iterate(expression, next);
    let current: Current | null = null;
    let hidden = 0;
    next = null;
    cost += STATEMENT_ROWS;
    for (const { number, row } of rows) {
      if (current === null || current.number !== number) {
        if (current?.isVisible === true) matches.push(matchOf(current));
        current = { number, isVisible: visible.has(number), rows: [], count: 0 };
        cost += visible.cost;
        if (matches.length === most.matches) {
          next = number + 1;
          break;
        }
      }
      cost += 1;
      current.rows = [...current.rows, row].slice(-FIRST_ROWS);
      current.count += 1;
      hidden = current.isVisible ? 0 : hidden + 1;
      if (Math.max(hidden, current.count) < rowsBeforeSkip && cost < most.cost) continue;
      if (current.isVisible) matches.push({ number, firstRows: firstRowsOf($client, expression, number) });
      next = current.isVisible ? number : visible.skipTo(number);
      current = null;
      break;
    }
    if (next === null && current?.isVisible === true) matches.push(matchOf(current));
  }
  return { matches, cost, next };
}

/** The recording whose rows are being read. */
interface Current {
  readonly number: number;
  readonly isVisible: boolean;
  rows: readonly number[];
  count: number;
}

function matchOf({ number, rows }: Current): Match {
  return { number, firstRows: rows.toReversed() };
}

const numbersOfAccounts = `SELECT searchable.number FROM recordings
  CROSS JOIN searchable_recordings AS searchable ON searchable.recording_id = recordings.id
  WHERE recordings.account_id IN (SELECT value FROM json_each(?)) LIMIT ${MAX_NUMBERS + 1}`;
// The plus sign keeps SQLite from using any index other than the one that finds the single recording.
const isOfAccounts = `SELECT 1 FROM searchable_recordings AS searchable
  CROSS JOIN recordings ON recordings.id = searchable.recording_id
  WHERE searchable.number = ? AND +recordings.account_id IN (SELECT value FROM json_each(?))`;

/** Returns the lowest few matching rows of a recording. */
function firstRowsOf($client: Store["$client"], expression: string, number: number): number[] {
  using statement = $client.prepare<Pick<MatchingRow, "row">, [string, number]>(rowsOfOne);
  return statement.all(expression, number).map(({ row }) => row);
}

/** Returns the numbers of the recordings of some accounts: as a list, or looked up one by one if there are many. */
export function visibleNumbers({ $client }: Store, accountIds: "all" | readonly string[]): VisibleNumbers {
  if (accountIds === "all") return { cost: 0, has: () => true, skipTo: (number) => number };
  const accounts = JSON.stringify(accountIds);
  const rows = $client.query<{ number: number }, [string]>(numbersOfAccounts).all(accounts);
  if (rows.length > MAX_NUMBERS) {
    const lookUp = $client.query<unknown, [number, string]>(isOfAccounts);
    return { cost: LOOKUP_ROWS, has: (number) => lookUp.get(number, accounts) !== null, skipTo: (number) => number };
  }
  const ascending = rows.map(({ number }) => number).toSorted((one, other) => one - other);
  const known = new Set(ascending);
  return {
    cost: 0,
    has: (number) => known.has(number),
    skipTo(number) {
      const next = ascending[countBelow(ascending, number) - 1];
      return next === undefined ? null : next + 1;
    },
  };
}

/** Returns how many of ascending numbers are below another one. */
function countBelow(ascending: readonly number[], number: number): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ascending[middle] ?? 0) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}
