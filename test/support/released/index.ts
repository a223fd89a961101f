import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Databases as released versions left them, one dump a version (`sqlite3 transcribe.db .dump`), each with a few rows in
 * every table. A release adds its own as soon as its migrations differ from the last dump's; none is ever changed.
 */
export const releasedVersions: readonly string[] = readdirSync(import.meta.dir)
  .filter((name) => name.endsWith(".sql"))
  .map((name) => name.slice(0, -".sql".length))
  .sort(Bun.semver.order);

/** Writes the database of a released version. */
export function writeReleased(version: string, path: string): void {
  using database = new Database(path, { create: true });
  database.run(readFileSync(join(import.meta.dir, `${version}.sql`), "utf8"));
}
