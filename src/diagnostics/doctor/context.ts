import { accessSync, constants, existsSync } from "node:fs";
import type { Settings } from "../../config/index.ts";
import { currentSpeechModel, findRunningServer, openProgramParts } from "../../server/index.ts";
import { DataPaths, readDatabase, type Store } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import type { CheckContext } from "./check.ts";
import { thisMachine } from "./machine.ts";

export interface DoctorOptions {
  readonly settings: Settings;
  /** Reason why the settings cannot be read; the defaults are then used. */
  readonly settingsError: string | null;
  readonly configFile: string | null;
  readonly all: boolean;
  readonly signal: AbortSignal;
}

/** Collects the data for the checks. The caller closes the context when all checks have finished. */
export async function openContext(options: DoctorOptions): Promise<CheckContext & { close(): void }> {
  const { settings } = options;
  const paths = new DataPaths(settings.storage.data_dir);
  const data = standOf(paths.root);
  const parts = await openProgramParts(settings);
  const database = data === "there" && existsSync(paths.databasePath) ? open(paths.databasePath) : null;
  const server = data === "there" ? await findRunningServer(paths) : null;
  return {
    ...options,
    ...{ paths, data, database, server },
    ...{ files: parts.files, filesArePresent: parts.arePresent },
    speechModel:
      parts.files instanceof Error
        ? null
        : currentSpeechModel(settings, {
            files: parts.files,
            dataDirectory: paths,
            database: database instanceof Error ? null : database,
          }),
    machine: thisMachine(options.signal),
    close() {
      if (database !== null && !(database instanceof Error)) database.$client.close();
      parts.close();
    },
  };
}

function standOf(root: string): CheckContext["data"] {
  if (!existsSync(root)) return "missing";
  try {
    accessSync(root, constants.R_OK | constants.X_OK);
    return "there";
  } catch {
    return "closed";
  }
}

function open(path: string): Store | Error {
  try {
    return readDatabase(path);
  } catch (error) {
    return new Error(messageOf(error));
  }
}
