import { statSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf, size } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped } from "../check.ts";

const rowsSchema = Type.Array(Type.Object({ quick_check: Type.String() }));

export const databaseIntegrity: Check = {
  id: "database.integrity",
  title: "Database",
  explanation:
    "SQLite reads the whole database and checks its structure (PRAGMA quick_check). It only reads, and may run beside a server. The database holds every transcript, so a damaged one is restored from a backup, not mended.",
  heavy: true,
  run({ database, paths }): Finding {
    if (database === null) return skipped("there is no database yet; the server's first start makes it");
    const faults =
      database instanceof Error
        ? [database.message]
        : faultsOf(() => database.$client.query("PRAGMA quick_check(20)").all());
    if (faults.length === 0) return ok(`${size(statSync(paths.databasePath).size)}, sound`);
    return problem("the database is damaged or can't be read", {
      detail: faults,
      advice:
        "If it says that access is denied, run this as the server's user. Else stop the server, keep a copy of the whole data directory, and put a backup back: transcribe restore --replace FILE. Then look at the disk: dmesg, smartctl.",
    });
  },
};

function faultsOf(check: () => unknown): string[] {
  try {
    const rows = Value.Parse(rowsSchema, check());
    return rows.map((row) => row.quick_check).filter((text) => text !== "ok");
  } catch (error) {
    return [messageOf(error)];
  }
}
