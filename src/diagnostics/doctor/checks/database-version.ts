import { programVersion } from "../../../program/index.ts";
import { databaseState, MigrationError, pendingMigrations } from "../../../storage/index.ts";
import { type Check, ok, problem, skipped } from "../check.ts";

export const databaseVersion: Check = {
  id: "database.version",
  title: "Its version",
  explanation:
    "Which version of the program wrote the database. An earlier one is brought up to date at the server's start, after a copy was made; one of a later version is refused, since this version would damage it.",
  run({ database }) {
    if (database === null || database instanceof Error) return skipped("there is no database to look into");
    let state: ReturnType<typeof databaseState>;
    try {
      state = databaseState(database.$client);
    } catch {
      return skipped("the database can't be read");
    }
    try {
      const pending = pendingMigrations(state);
      if (pending.length === 0) return ok(`of this version, ${programVersion}`);
      return ok(`of version ${state.version}; the next start copies it and brings it up to ${programVersion}`);
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error;
      return problem("the database is not one that this version can open", {
        detail: [error.message],
        advice: `Start transcribe ${state.version} again, or go back to a backup made with this version: transcribe restore --replace FILE.`,
      });
    }
  },
};
