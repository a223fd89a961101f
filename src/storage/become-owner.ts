import { isAdministrator, pathSteps, untrustedWriter } from "../files/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { DataDirectoryError } from "./data-directory.ts";

/** Returns the ids of a user's extra groups, such as those that a service's unit gives to its user. */
type FurtherGroups = (userId: number) => readonly number[];

/** The user and the group that a data directory belongs to. */
interface Owner {
  readonly userId: number;
  readonly groupId: number;
}

/**
 * Makes root the owner of a data directory for the rest of this process, including all its threads and children. The
 * command then opens, creates and loads everything with that user's rights. So no link, model or database of the user
 * leads root anywhere. A directory that does not exist yet belongs to the owner of its nearest existing ancestor. Does
 * nothing when the user is not root, or when root owns the directory.
 * @throws {DataDirectoryError} when root may not become the owner, or when strangers could replace the directory
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
 * with the caller's rights, before the process drops them. If the owner could replace the file, it is opened with the
 * owner's rights instead.
 * @param open receives whether the process still has rights that it is about to drop
 */
export function becomeOwnerWith<T extends Disposable | null>(
  root: string,
  path: string,
  open: (givesUpRights: boolean) => T,
  furtherGroups: FurtherGroups = () => [],
): T {
  const owner = ownerToBecome(root);
  if (owner === null || couldReplace(root, owner, path, furtherGroups)) {
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

/** Returns the owner that the process must become; null when it keeps its user. */
function ownerToBecome(root: string): Owner | null {
  if (process.geteuid?.() !== 0) return null;
  const steps = pathSteps(root);
  const { uid: userId, gid: groupId } = (steps.at(-1) ?? missingRoot()).stats;
  const isTrusted = (user: number) => user === userId || isAdministrator(user);
  for (const step of steps.slice(0, -1)) {
    const fault = untrustedWriter(step, isTrusted);
    if (fault === null) continue;
    throw new DataDirectoryError(
      `root does not work in ${root}, which others could exchange for another directory: ${step.path} ${fault}; run the command as the user that the server runs as`,
    );
  }
  return userId === 0 ? null : { userId, groupId };
}

function missingRoot(): never {
  throw new RangeError("every path begins at the root directory");
}

function noRight(root: string, { userId, groupId }: Owner, cause: unknown): DataDirectoryError {
  return new DataDirectoryError(
    `${root} belongs to another user (uid ${userId}), and this root has no right to become that user (${messageOf(cause)}): run the command as that user (sudo -u USER; in a container: --user ${userId}:${groupId}), or allow CAP_SETUID and CAP_SETGID`,
    { cause },
  );
}

/**
 * Returns the owner's groups on this machine and those of its service. A user without a name has only the directory's
 * group. The C library reports a user's groups only by setting them, so this process has them for a moment.
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
    // Bun supports initgroups as Node does, but its types omit it.
    if (!("initgroups" in process) || typeof process.initgroups !== "function") throw new Error("no initgroups");
    process.initgroups(userId, groupId);
  } catch (error) {
    if (codeOf(error) !== "ERR_UNKNOWN_CREDENTIAL") throw error;
    process.setgroups?.([groupId]);
  }
}

/** Returns whether the owner of a data directory could put another file in the place of a path. */
function couldReplace(root: string, owner: Owner, path: string, furtherGroups: FurtherGroups): boolean {
  let groups: readonly number[];
  try {
    groups = groupsOf(owner, furtherGroups);
  } catch (error) {
    throw noRight(root, owner, error);
  }
  return pathSteps(path).some(({ stats }) => {
    if (stats.uid === owner.userId) return true;
    if (!stats.isDirectory() || (stats.mode & 0o1000) !== 0) return false;
    return (stats.mode & 0o002) !== 0 || ((stats.mode & 0o020) !== 0 && groups.includes(stats.gid));
  });
}
