import { accessSync, constants, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UnpackError } from "./unpack-error.ts";
import { isAdministrator, passagesTo, strangerAt } from "./way.ts";

const advice = "set storage.runtime_dir (TRANSCRIBE_STORAGE_RUNTIME_DIR) to another directory";

/**
 * Native code is loaded from here by this user's programs, so nobody else may put any there.
 * @throws {UnpackError} when it belongs to another user than this one and root, or others can write to it
 */
export function requirePrivate(directory: string): void {
  const { uid, mode } = lstatSync(directory);
  const me = process.getuid?.() ?? uid;
  if (uid !== me && uid !== 0) {
    throw new UnpackError(`${directory} belongs to another user (uid ${uid}); ${advice}`);
  }
  if ((mode & 0o022) !== 0) {
    throw new UnpackError(`other users can write to ${directory}; take that right away (chmod go-w), or ${advice}`);
  }
}

/** Users outside a container have no number of their own inside; the kernel shows them all by this one. */
const overflowUserId = 65_534;

/**
 * Requires that nobody else can put another directory in the place of this one: neither by owning a directory or a link on
 * the way to it nor by having write access to one.
 * @param directory absolute; it may not be there yet
 * @throws {UnpackError} when a stranger can: not this user, nor root, nor the owner of the program's own file, nor whoever
 * became root by sudo for this, who all decide what runs here anyway
 */
export function requirePrivateWay(directory: string): void {
  const me = process.getuid?.() ?? 0;
  const known = [me, overflowUserId, statSync("/proc/self/exe").uid];
  const isTrusted = (userId: number) => known.includes(userId) || isAdministrator(userId);
  for (const passage of passagesTo(dirname(directory))) {
    const fault = strangerAt(passage, isTrusted);
    if (fault !== null) throw new UnpackError(`${passage.path}, on the way to ${directory}, ${fault}; ${advice}`);
  }
}

/** @throws {UnpackError} where the kernel lets nothing be run from there */
export function requireExecutable(program: string, directory: string): void {
  try {
    accessSync(program, constants.X_OK);
  } catch {
    throw new UnpackError(
      `programs can't be run from ${directory}: it is on a file system mounted noexec, or its rights forbid it; ${advice}`,
    );
  }
}

/** What went wrong while unpacking, in words for the operator where the file system said it. */
export function refusalOf(error: unknown, directory: string, sizeBytes: number): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return new UnpackError(
        `${directory} has no room for this program's parts, ${Math.ceil(sizeBytes / 1e6)} MB; make some, or ${advice}`,
      );
    case "EROFS":
    case "EACCES":
    case "EPERM":
    case "ENOTDIR":
    case "EEXIST":
      return new UnpackError(`this program's parts can't be unpacked into ${directory} (${error.message}); ${advice}`);
    default:
      return error;
  }
}
