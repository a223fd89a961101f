/** Returns the text of a file of the kernel; null if it cannot be read. */
export type ReadText = (path: string) => string | null;

/** A mounted file system. */
export interface Mount {
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
    const [, , , root = "", mountPoint = "", options = ""] = left.split(" ");
    const [kind = "", , superOptions = ""] = right.split(" ");
    if (mountPoint === "") return [];
    const all = [...options.split(","), ...superOptions.split(",")];
    return [{ root: unescaped(root), mountPoint: unescaped(mountPoint), kind, options: all }];
  });
}

/** Decodes the octal escapes that the kernel writes for blanks and similar characters. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
