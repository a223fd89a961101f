import type { Store } from "../../storage/index.ts";
import type { SearchQuery } from "./search-query.ts";

/** What the index has of one recording. */
interface IndexedRecording {
  /** What its rows go by. */
  readonly number: number;
  /** The lowest of its rows that have what is looked for, a few. */
  readonly firstRows: readonly number[];
  /** Whether there is none after it. */
  readonly isLast: boolean;
}

/** Of a recording that has so many rows the rest is not gone through. */
const rowsToStepOver = 200;
/** Rows that are gone through for one page: some tens of milliseconds' work. */
const mostRows = 50_000;
const keptRows = 4;

const fromAbove = `SELECT rowid >> 21 AS number, rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ? AND rowid < (? << 21) ORDER BY rowid DESC`;
const ofOne = `SELECT rowid & 2097151 AS row FROM searchable_texts
  WHERE searchable_texts MATCH ?1 AND rowid BETWEEN ?2 << 21 AND (?2 << 21) + 2097151 ORDER BY rowid LIMIT ${keptRows}`;

interface Row {
  readonly number: number;
  readonly row: number;
}

/**
 * Recordings that have what is looked for, from a number down, read from the index as they are asked for. The last that is
 * told is not the last there is where there are very many rows.
 */
export function* recordingsWith({ $client }: Store, query: SearchQuery, below: number): Generator<IndexedRecording> {
  const { expression, hasBeginning } = query;
  let gone = 0;
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
      current.rows = [...current.rows, row].slice(-keptRows);
      current.count += 1;
      gone += 1;
      // All words with one beginning are put together anew for each statement, others are found at once.
      const isFull = !hasBeginning && current.count === rowsToStepOver;
      if (isFull || gone === mostRows) {
        from = number;
        break;
      }
    }
    if (current === null) return;
    const { number } = current;
    const firstRows = from === null ? current.rows.toReversed() : firstRowsOf($client, expression, number);
    yield { number, firstRows, isLast: from === null };
    if (gone >= mostRows) return;
  }
}

function firstRowsOf($client: Store["$client"], expression: string, number: number): number[] {
  using statement = $client.prepare<Pick<Row, "row">, [string, number]>(ofOne);
  return statement.all(expression, number).map(({ row }) => row);
}
