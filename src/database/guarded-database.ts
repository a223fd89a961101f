import { Database, type Statement } from "bun:sqlite";

/** Statements that change rows. The product's code has none that begins with `WITH` and writes. */
const WRITE = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b/i;
const METHODS = ["run", "all", "get", "values"] as const;

/**
 * A connection whose writes can be forbidden. The check runs right before each commit, and right before each writing
 * statement outside a transaction. A transaction whose commit is refused is rolled back. Migrations and pragmas are not
 * checked.
 */
export class GuardedDatabase extends Database {
  readonly #guarded = new WeakSet<object>();
  /** Throws if nothing may be written now. */
  check: () => void = () => {};

  override prepare: Database["prepare"] = (sql: string, ...rest: never[]) =>
    this.#guard(sql, super.prepare(sql, ...rest)) as never;

  override query: Database["query"] = (sql: string) => this.#guard(sql, super.query(sql)) as never;

  override transaction: Database["transaction"] = (work: (...args: never[]) => unknown) =>
    super.transaction((...args: never[]) => {
      const result = work(...args);
      this.check();
      return result;
    }) as never;

  /** Adds the check to a statement that writes. `query` returns the same statement each time. */
  #guard(sql: string, statement: Statement): Statement {
    if (!WRITE.test(sql) || this.#guarded.has(statement)) return statement;
    this.#guarded.add(statement);
    for (const method of METHODS) {
      const run = statement[method].bind(statement) as (...params: unknown[]) => unknown;
      const checked = (...params: unknown[]) => {
        // A transaction is checked at its end.
        if (!this.inTransaction) this.check();
        return run(...params);
      };
      Object.defineProperty(statement, method, { value: checked });
    }
    return statement;
  }
}
