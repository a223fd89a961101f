/** Returns the text of a file of the kernel; null if it cannot be read. */
export type ReadText = (path: string) => string | null;

/** A mounted file system. */
export interface Mount {
  /** Numbers of the device of the file system, `8:1`. */
  readonly device: string;
  /** The directory of the file system that is mounted: `/`, or a part of it. */
  readonly root: string;
  readonly mountPoint: string;
  /** ext4, xfs, nfs4, tmpfs, overlay, cgroup2, … */
  readonly kind: string;
  /** Options of the mount and of its file system. */
  readonly options: readonly string[];
}

/** Returns the mounts that this process sees, in the order of /proc/self/mountinfo (proc_pid_mountinfo(5)). */
export function readMounts(read: ReadText): Mount[] {
  return (read("/proc/self/mountinfo") ?? "").split("\n").flatMap((line): Mount[] => {
    const [left = "", right = ""] = line.split(" - ");
    const [, , device = "", root = "", mountPoint = "", options = ""] = left.split(" ");
    const [kind = "", , superOptions = ""] = right.split(" ");
    if (mountPoint === "") return [];
    const all = [...options.split(","), ...superOptions.split(",")];
    return [{ device, root: unescaped(root), mountPoint: unescaped(mountPoint), kind, options: all }];
  });
}

/** Returns the mount that a path without links is on; undefined if the list has none, as in some chroots. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  let found: Mount | undefined;
  for (const mount of mounts) {
    const { mountPoint } = mount;
    const holds = path === mountPoint || path.startsWith(mountPoint === "/" ? "/" : `${mountPoint}/`);
    // A later mount at the same place covers the earlier one.
    if (holds && mountPoint.length >= (found?.mountPoint.length ?? 0)) found = mount;
  }
  return found;
}

/** Decodes the octal escapes that the kernel writes for blanks and similar characters. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
