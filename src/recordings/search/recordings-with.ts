import type { Store } from "../../storage/index.ts";
import type { SearchQuery } from "./search-query.ts";

/** The index entries of one recording. */
interface IndexedRecording {
  /** Number that its rows are derived from. */
  readonly number: number;
  /** The lowest few of its matching rows. */
  readonly firstRows: readonly number[];
  /** Whether no further recording matches. */
  readonly isLast: boolean;
}

/** Number of matching rows of a recording after which the scan skips the rest. */
const ROWS_BEFORE_SKIP = 200;
/** Maximum number of rows scanned for one page, which takes some tens of milliseconds. */
const MAX_ROWS = 50_000;
const FIRST_ROWS = 4;

const fromAbove = `SELECT rowid >> 21 AS number, rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ? AND rowid < (? << 21) ORDER BY rowid DESC`;
const ofOne = `SELECT rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ?1 AND rowid BETWEEN ?2 << 21 AND (?2 << 21) + 2097151 ORDER BY rowid LIMIT ${FIRST_ROWS}`;

interface Row {
  readonly number: number;
  readonly row: number;
}

/**
 * Yields the matching recordings below a number, in descending order, read from the index on demand. With very many
 * matching rows, it stops before the last recording.
 */
export function* recordingsWith({ $client }: Store, query: SearchQuery, below: number): Generator<IndexedRecording> {
  const { expression, hasPrefix } = query;
  let scanned = 0;
  let from: number | null = below;
  while (from !== null) {
    using statement = $client.prepare<Row, [string, number]>(fromAbove);
    const rows: Iterable<Row> = statement.iterate(expression, from);
    let current: { readonly number: number; rows: number[]; count: number } | null = null;
    from = null;
    for (const { number, row } of rows) {
      if (current !== null && current.number !== number) {
        yield { number: current.number, firstRows: current.rows.toReversed(), isLast: false };
        current = null;
      }
      current ??= { number, rows: [], count: 0 };
      current.rows = [...current.rows, row].slice(-FIRST_ROWS);
      current.count += 1;
      scanned += 1;
      // For a prefix, each statement merges all words that begin with it; other words are found at once. A new
      // statement is therefore cheap only without a prefix.
      const isFull = !hasPrefix && current.count === ROWS_BEFORE_SKIP;
      if (isFull || scanned === MAX_ROWS) {
        from = number;
        break;
      }
    }
    if (current === null) return;
    const { number } = current;
    const firstRows = from === null ? current.rows.toReversed() : firstRowsOf($client, expression, number);
    yield { number, firstRows, isLast: from === null };
    if (scanned >= MAX_ROWS) return;
  }
}

function firstRowsOf($client: Store["$client"], expression: string, number: number): number[] {
  using statement = $client.prepare<Pick<Row, "row">, [string, number]>(ofOne);
  return statement.all(expression, number).map(({ row }) => row);
}
