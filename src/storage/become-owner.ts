import { isAdministrator, passagesTo, strangerAt } from "../program/index.ts";
import { messageOf } from "../text/index.ts";
import { DataDirectoryError } from "./data-directory.ts";

/** Ids of groups that a user shall be in beside the user's own: a service's, which its unit gives it. */
export type FurtherGroups = (userId: number) => readonly number[];

/** The user and the group that a data directory belongs to. */
interface Owner {
  readonly userId: number;
  readonly groupId: number;
}

/**
 * Makes root the owner of a data directory for the rest of this process, with all its threads and children. Whatever the
 * command then opens, makes or loads, it does so with the rights of that user, so that no link, model or database of the
 * user leads root anywhere. A directory that does not exist yet belongs to the owner of the directory that it will lie in.
 * Does nothing for other users than root, and for a directory of root.
 * @throws {DataDirectoryError} where root may not become the owner, or strangers could exchange the directory
 */
export function becomeOwner(root: string, furtherGroups: FurtherGroups = () => []): void {
  const owner = ownerToBecome(root);
  if (owner === null) return;
  try {
    const groups = groupsOf(owner, furtherGroups);
    process.setgid?.(owner.groupId);
    process.setgroups?.(groups);
    process.setuid?.(owner.userId);
  } catch (error) {
    throw noRight(root, owner, error);
  }
}

/**
 * Becomes the owner of a data directory and opens a file that the caller named on the command line. The file is opened
 * with the caller's rights, before those are given up; but with the owner's where the owner could put another in its place.
 * @param open gets whether it still has rights that the process is about to give up
 */
export function becomeOwnerWith<T extends Disposable | null>(
  root: string,
  path: string,
  open: (givesUpRights: boolean) => T,
  furtherGroups: FurtherGroups = () => [],
): T {
  const owner = ownerToBecome(root);
  if (owner === null || isOpenTo(root, owner, path, furtherGroups)) {
    becomeOwner(root, furtherGroups);
    return open(false);
  }
  const opened = open(true);
  try {
    becomeOwner(root, furtherGroups);
    return opened;
  } catch (error) {
    opened?.[Symbol.dispose]();
    throw error;
  }
}

/** @returns null where the process stays what it is */
function ownerToBecome(root: string): Owner | null {
  if (process.geteuid?.() !== 0) return null;
  const way = passagesTo(root);
  const { uid: userId, gid: groupId } = (way.at(-1) ?? missingRoot()).stats;
  const isTrusted = (user: number) => user === userId || isAdministrator(user);
  for (const passage of way.slice(0, -1)) {
    const fault = strangerAt(passage, isTrusted);
    if (fault === null) continue;
    throw new DataDirectoryError(
      `root does not work in ${root}, which others could exchange for another directory: ${passage.path} ${fault}; run the command as the user that the server runs as`,
    );
  }
  return userId === 0 ? null : { userId, groupId };
}

function missingRoot(): never {
  throw new RangeError("every way begins at the root directory");
}

function noRight(root: string, { userId, groupId }: Owner, cause: unknown): DataDirectoryError {
  return new DataDirectoryError(
    `${root} belongs to another user (uid ${userId}), and this root has no right to become that user (${messageOf(cause)}): run the command as that user (sudo -u USER; in a container: --user ${userId}:${groupId}), or allow CAP_SETUID and CAP_SETGID`,
    { cause },
  );
}

/**
 * The groups that the owner is in on this machine, and those of its service; a user without a name is in none but the
 * directory's. The C library tells them only by taking them, so this process has them for a moment.
 */
function groupsOf({ userId, groupId }: Owner, furtherGroups: FurtherGroups): number[] {
  const before = process.getgroups?.() ?? [];
  try {
    takeGroups(userId, groupId);
    return [...new Set([...(process.getgroups?.() ?? []), ...furtherGroups(userId)])];
  } finally {
    process.setgroups?.(before);
  }
}

function takeGroups(userId: number, groupId: number): void {
  try {
    // Bun has it as Node does, and its types leave it out.
    if (!("initgroups" in process) || typeof process.initgroups !== "function") throw new Error("no initgroups");
    process.initgroups(userId, groupId);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_UNKNOWN_CREDENTIAL")) throw error;
    process.setgroups?.([groupId]);
  }
}

/** Returns whether the owner of a data directory could put another file in the place of a path. */
function isOpenTo(root: string, owner: Owner, path: string, furtherGroups: FurtherGroups): boolean {
  let groups: readonly number[];
  try {
    groups = groupsOf(owner, furtherGroups);
  } catch (error) {
    throw noRight(root, owner, error);
  }
  return passagesTo(path).some(({ stats }) => {
    if (stats.uid === owner.userId) return true;
    if (!stats.isDirectory() || (stats.mode & 0o1000) !== 0) return false;
    return (stats.mode & 0o002) !== 0 || ((stats.mode & 0o020) !== 0 && groups.includes(stats.gid));
  });
}
