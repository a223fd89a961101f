import { type Check, ok, problem, skipped, warning } from "../check.ts";
import { existingPart, mountOf } from "../file-system.ts";

const network =
  /^(nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|glusterfs|lustre|fuse\.(sshfs|s3fs|glusterfs|ceph|rclone|davfs))$/;

export const dataFilesystem: Check = {
  id: "data.filesystem",
  title: "File system",
  explanation:
    "SQLite's write-ahead log needs a local file system: over a network two machines may write at once and damage the database. A tmpfs forgets everything at a restart, and so does the writable layer of a container. What the program unpacks must not lie on a mount with noexec.",
  run({ paths, settings, machine }) {
    const mount = mountOf(machine, existingPart(paths.root));
    if (mount === null) return skipped("this system does not say what is mounted");
    const { kind, mountPoint, options } = mount;
    const where = `${kind} at ${mountPoint}`;
    if (network.test(kind)) {
      return problem(`the data directory lies on a network file system (${where}): the database may be damaged`, {
        advice: "Move the data directory to a local disk, and back it up to the network instead.",
      });
    }
    if (options.includes("ro")) {
      return problem(`the data directory lies on a file system that can't be written to (${where})`, {
        advice:
          "Mount it writable, or name another directory with --data-dir. After disk errors the kernel makes a file system read-only: see dmesg.",
      });
    }
    if (kind === "tmpfs" || kind === "ramfs") {
      return warning(`the data directory lies in memory (${where}): everything is gone after a restart`, {
        advice: "Name a directory on a disk with --data-dir, unless this is only a try.",
      });
    }
    if (kind === "overlay") {
      return warning(`the data directory lies in the container itself (${where}): it goes with the container`, {
        advice: "Mount a volume there (docker: -v transcribe:/var/lib/transcribe).",
      });
    }
    const runtime = mountOf(machine, existingPart(settings.storage.runtime_dir || paths.root));
    if (runtime?.options.includes("noexec")) {
      return warning(
        `${runtime.mountPoint} is mounted noexec: the program in one file can't run its parts from there`,
        {
          advice: "Set storage.runtime_dir to a directory where programs may be run.",
        },
      );
    }
    return ok(where);
  },
};
