import { createHash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { BackupError } from "../database/index.ts";
import { readAt, readPieces, tar, writeAll } from "../files/index.ts";
import { isRecordingId } from "../storage/index.ts";
import { size } from "../text/index.ts";

/**
 * A backup in one file: a tar archive of `transcribe.db`, the recordings as they were sent (`uploads/ID`) and, at its
 * end, `manifest.json`. The manifest lists the size and SHA-256 of each file.
 */
export const MANIFEST_NAME = "manifest.json";
export const DATABASE_NAME = "transcribe.db";
const UPLOADS = "uploads/";
/** Returns the name of a recording's file in an archive. */
export const uploadName = (recordingId: string) => UPLOADS + recordingId;
/** Returns whether a file of a backup, except the manifest, may have this name; no other name is unpacked. */
const isMemberName = (name: string) =>
  name === DATABASE_NAME || (name.startsWith(UPLOADS) && isRecordingId(name.slice(UPLOADS.length)));

const closed = { additionalProperties: false };

const manifestSchema = Type.Object(
  {
    format: Type.Literal("transcribe-backup"),
    version: Type.Literal(1),
    files: Type.Array(
      Type.Object({ name: Type.String(), sizeBytes: Type.Integer({ minimum: 0 }), sha256: Type.String() }, closed),
    ),
  },
  closed,
);
export type Manifest = Static<typeof manifestSchema>;

/** Maximum size of a manifest: that of a hundred thousand recordings. */
const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;
/** More files than a manifest of maximum size can name: each takes at least 170 bytes of it. */
const MAX_FILES = 200_000;

/**
 * Unpacks a backup into an empty folder, as `transcribe.db` and `uploads/`; syncs each file and checks its digest.
 * @param archive descriptor of the backup
 * @returns the names of its files
 * @throws {BackupError} when the file is truncated, changed or not ours; the caller removes the unpacked files
 */
export function unpackBackup(archive: number, folder: string): string[] {
  const archiveBytes = fstatSync(archive).size;
  requireSpace(archiveBytes, folder);
  const unpacked: Manifest["files"] = [];
  const names = new Set<string>();
  mkdirSync(join(folder, "uploads"), { mode: 0o700 });
  for (let offset = 0; ; ) {
    const header = tar.readHeader(readAt(archive, offset, tar.BLOCK_BYTES));
    offset += tar.BLOCK_BYTES;
    if (header === null || header.sizeBytes > archiveBytes - offset)
      throw broken("it was cut off, or changed by others");
    const { name, sizeBytes } = header;
    if (name === MANIFEST_NAME) {
      checkManifest(readManifest(archive, offset, sizeBytes), unpacked);
      return [...names];
    }
    if (!isMemberName(name)) throw broken("it has a file that no backup has");
    if (names.has(name)) throw broken(`it has ${name} twice`);
    names.add(name);
    if (names.size > MAX_FILES) throw broken("it has more files than a backup can have");
    const sha256 = extract(archive, offset, sizeBytes, join(folder, name));
    unpacked.push({ name, sizeBytes, sha256 });
    offset += sizeBytes + tar.padding(sizeBytes);
  }
}

/**
 * Requires free space of the archive's size. Its files are not compressed, so they need no more, even if it is sparse.
 */
function requireSpace(archiveBytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (archiveBytes <= bavail * bsize) return;
  throw new BackupError(
    `the backup takes ${size(archiveBytes)} and ${size(bavail * bsize)} are free on the disk of the data directory; free some`,
  );
}

function extract(archive: number, offset: number, sizeBytes: number, path: string): string {
  const hash = createHash("sha256");
  const file = openSync(path, "wx", 0o600);
  try {
    const done = readPieces(archive, offset, sizeBytes, (piece) => {
      hash.update(piece);
      writeAll(file, piece);
    });
    if (done < sizeBytes) throw broken("it was cut off");
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}

function readManifest(archive: number, offset: number, sizeBytes: number): Manifest {
  if (sizeBytes > MAX_MANIFEST_BYTES) throw broken("its manifest is too long");
  let manifest: unknown;
  try {
    manifest = JSON.parse(readAt(archive, offset, sizeBytes).toString("utf8"));
  } catch {
    throw broken("its manifest is no JSON");
  }
  if (!Value.Check(manifestSchema, manifest)) {
    throw broken("its manifest has another form; it may be of a newer version");
  }
  return manifest;
}

function checkManifest({ files }: Manifest, unpacked: Manifest["files"]): void {
  const differing = unpacked.find((file, index) => !Bun.deepEquals(file, files[index]));
  if (differing !== undefined) throw broken(`${differing.name} differs from the manifest`);
  if (files.length !== unpacked.length) throw broken("it lacks files that the manifest names");
  if (unpacked[0]?.name !== DATABASE_NAME) throw broken("it has no database");
}

function broken(why: string): BackupError {
  return new BackupError(`this is no backup of transcribe, or a damaged one: ${why}`);
}
