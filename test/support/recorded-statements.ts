import { Database } from "bun:sqlite";

/** Remembers every statement that this process has SQLite prepare, in whichever database, until it is disposed of. */
export class RecordedStatements implements Disposable {
  readonly statements = new Set<string>();
  readonly #prototype = Database.prototype;
  readonly #before = { prepare: this.#prototype.prepare, query: this.#prototype.query, run: this.#prototype.run };

  constructor() {
    const { statements } = this;
    for (const name of ["prepare", "query", "run"] as const) {
      const method: (sql: string, ...rest: never[]) => unknown = this.#before[name];
      const recording = function (this: Database, sql: string, ...rest: never[]) {
        statements.add(sql);
        return method.call(this, sql, ...rest);
      };
      Object.defineProperty(this.#prototype, name, { value: recording, configurable: true, writable: true });
    }
  }

  [Symbol.dispose](): void {
    for (const [name, value] of Object.entries(this.#before)) {
      Object.defineProperty(this.#prototype, name, { value, configurable: true, writable: true });
    }
  }
}

/** A table's rows that a statement may have to go through, all of them, or to sort. */
export function slowSteps(database: Database, sql: string, growing: readonly string[]): string[] {
  const plan = database.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  const details = plan.map(({ detail }) => detail);
  const touches = growing.some((table) =>
    details.some((detail) => new RegExp(`^(SCAN|SEARCH) ${table}\\b`).test(detail)),
  );
  return details.filter(
    (detail) =>
      growing.some((table) => new RegExp(`^SCAN ${table}\\b`).test(detail)) ||
      (touches && detail.startsWith("USE TEMP B-TREE FOR ORDER BY")),
  );
}
