import { statSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { databaseState, MigrationError, pendingMigrations } from "../../../database/index.ts";
import { programVersion } from "../../../program/index.ts";
import { BucketSettingsError, probeBucket } from "../../../storage/index.ts";
import { messageOf, size } from "../../../text/index.ts";
import { type Check, type Finding, ok, problem, skipped, warning } from "../check.ts";
import { existingPart } from "../machine-facts.ts";

/** Bytes per second of audio: 16 kHz, 16 bits, mono (32,000), and some for step files. */
const WORK_BYTES_PER_SECOND = 33_000;

const diskSpace: Check = {
  id: "disk.space",
  title: "Disk space",
  explanation:
    "The free disk space of the data directory, compared with the needs of the largest allowed recording: the upload itself, and 2 MB for each minute of it while it is processed. Below the reserve (storage.reserve_bytes), uploads are refused; on a full disk, recordings wait.",
  run({ paths, settings, machine }) {
    const part = existingPart(paths.root);
    const found = machine.statfs(part);
    if (found === null) return skipped(`the file system of ${part} does not report its free space`);
    const free = found.bavail * found.bsize;
    const { upload_bytes, recording_seconds } = settings.limits;
    const { slots } = settings.queue;
    const largest = upload_bytes + recording_seconds * WORK_BYTES_PER_SECOND;
    const summary = `${size(free)} of ${size(found.blocks * found.bsize)} free`;
    const detail = [
      `the largest allowed recording takes ${size(largest)} while it is processed, ${slots} at once ${size(largest * slots)}`,
    ];
    const advice =
      "Free some space, or move the data directory. With a smaller reserve (storage.reserve_bytes), recordings are accepted nevertheless. A shorter retention (retention.audio_days) frees the audio of completed recordings; lower limits (limits.upload_bytes, limits.recording_seconds) need less.";
    const reserve = settings.storage.reserve_bytes;
    if (free < reserve) return problem(`${summary}: less than the reserve of ${size(reserve)}`, { detail, advice });
    if (free < largest) return warning(`${summary}: too little for the largest recording`, { detail, advice });
    return ok(summary, ...detail);
  },
};

const diskInodes: Check = {
  id: "disk.inodes",
  title: "Number of files",
  explanation:
    "Some file systems can hold only a fixed number of files. After that, nothing new can be written although there is free space.",
  run({ paths, machine }) {
    const found = machine.statfs(existingPart(paths.root));
    if (found === null || found.files === 0) return skipped("this file system has no fixed number of files");
    const summary = `${found.ffree} more files fit`;
    const advice =
      "Remove unneeded files, often in a cache or mail directory: df -i and du --inodes show where they are.";
    if (found.ffree < 1000) return problem(`almost no file can be created: ${summary}`, { advice });
    if (found.ffree < 20_000) return warning(`only ${summary}`, { advice });
    return ok(summary);
  },
};

const rowsSchema = Type.Array(Type.Object({ quick_check: Type.String() }));

const databaseIntegrity: Check = {
  id: "database.integrity",
  title: "Database",
  explanation:
    "SQLite reads the whole database and checks its structure (PRAGMA quick_check). This changes nothing and is safe while a server runs. The database contains every transcript, so a damaged one is restored from a backup, not repaired.",
  heavy: true,
  run({ database, paths }): Finding {
    if (database === null) return skipped("there is no database yet; the server's first start creates it");
    const faults =
      database instanceof Error
        ? [database.message]
        : faultsOf(() => database.$client.query("PRAGMA quick_check(20)").all());
    if (faults.length === 0) return ok(`${size(statSync(paths.databasePath).size)}, intact`);
    return problem("the database is damaged or can't be read", {
      detail: faults,
      advice:
        "If access is denied, run this command as the server's user. Otherwise stop the server, keep a copy of the whole data directory, and restore a backup: transcribe restore --replace FILE. Then check the disk: dmesg, smartctl.",
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

const databaseVersion: Check = {
  id: "database.version",
  title: "Database version",
  explanation:
    "The version of the program that wrote the database. At its start the server copies the database of an earlier version and upgrades it. It refuses the database of a later version, because this version would damage it.",
  run({ database }) {
    if (database === null || database instanceof Error) return skipped("there is no readable database");
    let state: ReturnType<typeof databaseState>;
    try {
      state = databaseState(database.$client);
    } catch {
      return skipped("the database can't be read");
    }
    try {
      const pending = pendingMigrations(state);
      if (pending.length === 0) return ok(`written by this version, ${programVersion}`);
      return ok(`written by version ${state.version}; the next start copies it and upgrades it to ${programVersion}`);
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error;
      return problem("this version can't open the database", {
        detail: [error.message],
        advice: `Start transcribe ${state.version} again, or restore a backup of this version: transcribe restore --replace FILE.`,
      });
    }
  },
};

const objectStore: Check = {
  id: "storage.audio",
  title: "Object store of the audio",
  explanation:
    "Whether the bucket of storage.audio can be read with the key of s3.credentials_file. While it cannot, recordings are processed as always, and their audio waits on this machine.",
  async run({ settings }): Promise<Finding> {
    if (settings.storage.audio === "") return skipped("audio is stored in the data directory");
    try {
      const found = await probeBucket(settings);
      if (found === null) return skipped("audio is stored in the data directory");
      if (found.fault === null) return ok(found.address);
      return problem(`${found.address} can't be read`, {
        detail: [found.fault],
        advice:
          "Compare storage.audio and the settings of s3 with the store's, and the rights of the key; see docs/object-storage.md.",
      });
    } catch (error) {
      if (!(error instanceof BucketSettingsError)) throw error;
      return problem("the settings of the object store can't be used", {
        detail: [error.message],
        advice: "Correct the setting or its file.",
      });
    }
  },
};

export const storageChecks = [diskSpace, diskInodes, databaseIntegrity, databaseVersion, objectStore];
