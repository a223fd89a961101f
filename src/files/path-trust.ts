import { lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { codeOf } from "../text/index.ts";

/** A directory, link or file through which the kernel resolves a path. */
interface PathStep {
  readonly path: string;
  readonly stats: Stats;
}

/** Maximum number of links that Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Returns every step by which the kernel resolves a path, link by link, from the root directory on. The last step is the
 * path itself, or the deepest part of it that exists.
 */
export function pathSteps(path: string): PathStep[] {
  const steps: PathStep[] = [{ path: "/", stats: lstatSync("/") }];
  const remaining = namesIn(resolve(path));
  let directory = "/";
  let links = 0;
  for (let name = remaining.shift(); name !== undefined; name = remaining.shift()) {
    if (name === "..") {
      // `directory` has no link in it, so this is the directory that the kernel goes to.
      directory = dirname(directory);
      continue;
    }
    const next = join(directory, name);
    const stats = statOrNull(next);
    if (stats === null) break;
    steps.push({ path: next, stats });
    if (!stats.isSymbolicLink()) {
      directory = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new Error(`${path} leads through more than ${MAX_LINKS} links`);
    const target = readlinkSync(next);
    remaining.unshift(...namesIn(target));
    if (target.startsWith("/")) directory = "/";
  }
  return steps;
}

/** Returns whether a user is root, or became root by sudo to run this program. */
export function isAdministrator(userId: number): boolean {
  if (userId === 0) return true;
  return process.getuid?.() === 0 && process.env.SUDO_UID === String(userId);
}

/** The lists of this machine's users and groups, as `/etc/passwd` and `/etc/group` hold them. */
interface UserLists {
  readonly users: string;
  readonly groups: string;
}

/**
 * Describes who could replace a file below a path step; returns null when only trusted users can. In a sticky directory,
 * such as /tmp, users can replace only what belongs to them.
 */
export function untrustedWriter(
  { stats }: PathStep,
  isTrusted: (userId: number) => boolean,
  listsFor: (groupId: number) => UserLists = readUserLists,
): string | null {
  const { uid, gid, mode } = stats;
  if (!isTrusted(uid)) return `belongs to another user (uid ${uid})`;
  if (!stats.isDirectory() || (mode & 0o1000) !== 0) return null;
  if ((mode & 0o002) !== 0) return "can be written to by every user (chmod o-w)";
  if ((mode & 0o020) !== 0 && isShared(gid, isTrusted, listsFor(gid))) {
    return `can be written to by other users of the group ${gid} (chmod g-w)`;
  }
  return null;
}

/**
 * Returns whether a group has members that are not trusted. Many systems give each user a private group and leave
 * directories writable to it. A group in no list has only members that root chose, e.g. Kubernetes' `fsGroup`.
 */
function isShared(groupId: number, isTrusted: (userId: number) => boolean, { users, groups }: UserLists): boolean {
  if (groupId === 0) return false;
  const named = linesOf(groups).filter(([, , id]) => Number(id) === groupId);
  const members = new Set(named.flatMap(([, , , list = ""]) => list.split(",").filter((name) => name !== "")));
  for (const [name = "", , userId, primaryGroup] of linesOf(users)) {
    if ((Number(primaryGroup) === groupId || members.has(name)) && !isTrusted(Number(userId))) return true;
    members.delete(name);
  }
  // Members that are not in the list of users, as with a directory service.
  return members.size > 0;
}

/** Reads this machine's lists; a directory service is asked for a group that is not in them. */
function readUserLists(groupId: number): UserLists {
  const groups = textOf("/etc/group");
  const isListed = linesOf(groups).some(([, , id]) => Number(id) === groupId);
  return { users: textOf("/etc/passwd"), groups: isListed ? groups : askForGroup(groupId) };
}

/** Asks the directory service for a group. A container may have neither getent nor a directory service. */
function askForGroup(groupId: number): string {
  try {
    return Bun.spawnSync(["getent", "group", String(groupId)], { stderr: "ignore" }).stdout.toString();
  } catch {
    return "";
  }
}

function linesOf(list: string): string[][] {
  return list.split("\n").flatMap((line) => (line === "" ? [] : [line.split(":")]));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function namesIn(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function statOrNull(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return null;
    throw error;
  }
}
