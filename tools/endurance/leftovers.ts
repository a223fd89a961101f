import { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Names that a data directory may contain. */
const KNOWN_NAMES = /^(transcribe\.db(-wal|-shm)?|server\.lock|incoming|uploads|listening|work|models|state|backups)$/;

export function passesIntegrityCheck(dataDirectory: string): boolean {
  using database = new Database(join(dataDirectory, "transcribe.db"));
  const answers = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  return answers.length === 1 && answers[0]?.integrity_check === "ok";
}

/** Returns the files of a data directory that belong to no recording. @param ids of the stored recordings */
export function strayFiles(dataDirectory: string, ids: ReadonlySet<string>): string[] {
  const inside = (folder: string) => readdirSync(join(dataDirectory, folder)).map((name) => `${folder}/${name}`);
  return [
    ...readdirSync(dataDirectory).filter((name) => !KNOWN_NAMES.test(name)),
    ...inside("incoming"),
    ...inside("work"),
    ...inside("listening"),
    ...inside("uploads").filter((path) => !ids.has(path.slice("uploads/".length))),
    ...inside("state").filter((path) => path !== "state/devices.json"),
  ];
}

/** Returns the command lines of processes with one of these paths in their arguments or environment. */
export function processesWith(...paths: readonly string[]): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const [command = "", environment = ""] = ["cmdline", "environ"].map((file) =>
        readFileSync(`/proc/${pid}/${file}`, "utf8"),
      );
      const isOurs = paths.some((path) => command.includes(path) || environment.includes(path));
      return isOurs ? [command.replaceAll("\0", " ").trim()] : [];
    } catch {
      return [];
    }
  });
}
