import { Database } from "bun:sqlite";

/**
 * Makes this process end itself with SIGKILL before one of its steps, which are the writes of its databases, and whatever
 * else calls the returned function.
 * @param step number of steps that pass
 */
export function dieAtStep(step: number): () => void {
  const die = countdown(step);
  beforeEachWrite(die);
  return die;
}

/** Returns a function that ends this process with SIGKILL. @param calls number of calls that do nothing */
export function countdown(calls: number): () => void {
  let passed = 0;
  return () => {
    if (passed++ === calls) process.kill(process.pid, "SIGKILL");
  };
}

/** Calls a function before each write of this process's databases. @returns a function that ends this */
export function beforeEachWrite(die: () => void): () => void {
  const { prepare } = Database.prototype;
  Object.defineProperty(Database.prototype, "prepare", {
    value(this: Database, sql: string, ...rest: []) {
      const statement = prepare.call(this, sql, ...rest);
      if (!/^\s*(insert|update|delete|commit)/i.test(sql)) return statement;
      for (const name of ["run", "get", "all", "values"] as const) {
        const original = statement[name].bind(statement) as (...args: unknown[]) => unknown;
        const dying = (...args: unknown[]) => {
          die();
          return original(...args);
        };
        Object.defineProperty(statement, name, { value: dying });
      }
      return statement;
    },
  });
  return () => Object.defineProperty(Database.prototype, "prepare", { value: prepare });
}
