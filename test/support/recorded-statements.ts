import { Database } from "bun:sqlite";

/** A transaction and its statements, in order. */
export interface RecordedTransaction {
  /** A `deferred` transaction takes the write lock with its first statement that writes. */
  readonly behavior: "deferred" | "immediate" | "exclusive";
  readonly statements: string[];
}

/** Records every statement that this process prepares in any SQLite database, until disposal. */
export class RecordedStatements implements Disposable {
  readonly statements = new Set<string>();
  readonly transactions: RecordedTransaction[] = [];
  readonly #prototype = Database.prototype;
  readonly #before = {
    prepare: this.#prototype.prepare,
    query: this.#prototype.query,
    run: this.#prototype.run,
    transaction: this.#prototype.transaction,
  };

  constructor() {
    const { statements, transactions } = this;
    let under: RecordedTransaction | null = null;
    for (const name of ["prepare", "query", "run"] as const) {
      const method: (sql: string, ...rest: never[]) => unknown = this.#before[name];
      this.#replace(name, function (this: Database, sql: string, ...rest: never[]) {
        statements.add(sql);
        under?.statements.push(sql);
        return method.call(this, sql, ...rest);
      });
    }
    const { transaction } = this.#before;
    this.#replace("transaction", function (this: Database, inside: () => unknown) {
      const made = transaction.call(this, inside);
      const recorded = (behavior: RecordedTransaction["behavior"]) => () => {
        under = { behavior, statements: [] };
        transactions.push(under);
        try {
          return made[behavior]();
        } finally {
          under = null;
        }
      };
      return Object.assign(recorded("deferred"), {
        deferred: recorded("deferred"),
        immediate: recorded("immediate"),
        exclusive: recorded("exclusive"),
      });
    });
  }

  [Symbol.dispose](): void {
    for (const [name, method] of Object.entries(this.#before)) this.#replace(name, method);
  }

  #replace(name: string, value: unknown): void {
    Object.defineProperty(this.#prototype, name, { value, configurable: true, writable: true });
  }
}

const writes = /^\s*(insert|update|delete|with\b.*\b(insert|update|delete)\b)/is;

/**
 * Returns the reads of a deferred transaction before its first write. If another process writes in between, SQLite
 * aborts the transaction at once, regardless of the busy timeout.
 */
export function readsBeforeWrites({ behavior, statements }: RecordedTransaction): string[] {
  const own = statements.filter((sql) => !/^\s*(begin|commit|rollback|savepoint|release)\b/i.test(sql));
  if (behavior !== "deferred" || !own.some((sql) => writes.test(sql))) return [];
  return own.slice(
    0,
    own.findIndex((sql) => writes.test(sql)),
  );
}

/** Returns the steps of a query plan that scan or sort all rows of a growing table. */
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
