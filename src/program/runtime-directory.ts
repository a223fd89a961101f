import { accessSync, constants, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { isAdministrator, pathSteps, untrustedWriter } from "../files/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { programOwner, UnpackError } from "./own-program.ts";

const advice = "set storage.runtime_dir (TRANSCRIBE_STORAGE_RUNTIME_DIR) to another directory";

/**
 * Requires that only this user or root can write to a directory, because this user's programs load native code from it.
 * @throws {UnpackError} when it belongs to a user other than this one and root, or others can write to it
 */
export function requirePrivate(directory: string): void {
  const { uid, mode } = lstatSync(directory);
  const me = process.getuid?.() ?? uid;
  if (uid !== me && uid !== 0) {
    throw new UnpackError(`${directory} belongs to another user (uid ${uid}); ${advice}`);
  }
  if ((mode & 0o022) !== 0) {
    throw new UnpackError(`other users can write to ${directory}; revoke that right (chmod go-w), or ${advice}`);
  }
}

/** Id by which the kernel shows all users outside of a container, because they have no id inside. */
const OVERFLOW_USER_ID = 65_534;

/**
 * Requires that no untrusted user can replace this directory with another one. Such a user could do so by owning a
 * directory or a link on the way to it, or by having write access to one.
 * @param directory absolute; it may not exist yet
 * @throws {UnpackError} when an untrusted user can. This user, root, the owner of the program's own file and the user who
 * became root by sudo are trusted: they decide what runs here anyway. Users outside of a container are trusted, too.
 */
export function requireTrustedPath(directory: string): void {
  const me = process.getuid?.() ?? 0;
  const known = [me, OVERFLOW_USER_ID, programOwner()];
  const isTrusted = (userId: number) => known.includes(userId) || isAdministrator(userId);
  for (const step of pathSteps(dirname(directory))) {
    const fault = untrustedWriter(step, isTrusted);
    if (fault !== null) throw new UnpackError(`${step.path}, on the way to ${directory}, ${fault}; ${advice}`);
  }
}

/** Requires that a program can be run from a directory. @throws {UnpackError} when the kernel does not allow it */
export function requireExecutable(program: string, directory: string): void {
  try {
    accessSync(program, constants.X_OK);
  } catch {
    throw new UnpackError(
      `programs can't be run from ${directory}: it is on a file system mounted noexec, or its rights forbid it; ${advice}`,
    );
  }
}

/** Returns a file system's error as an UnpackError with advice for the operator; any other error unchanged. */
export function unpackErrorOf(error: unknown, directory: string, sizeBytes: number): unknown {
  const code = codeOf(error);
  if (["ENOSPC", "EDQUOT"].includes(code)) {
    const megabytes = Math.ceil(sizeBytes / 1e6);
    return new UnpackError(
      `${directory} has not enough disk space for this program's parts, ${megabytes} MB; free some, or ${advice}`,
    );
  }
  if (["EROFS", "EACCES", "EPERM", "ENOTDIR", "EEXIST"].includes(code)) {
    return new UnpackError(`this program's parts can't be unpacked into ${directory} (${messageOf(error)}); ${advice}`);
  }
  return error;
}
