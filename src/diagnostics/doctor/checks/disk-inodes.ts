import { type Check, ok, problem, skipped, warning } from "../check.ts";
import { existingPart } from "../file-system.ts";

export const diskInodes: Check = {
  id: "disk.inodes",
  title: "Room for files",
  explanation:
    "Some file systems hold a fixed number of files. When that is used up, nothing new can be written although there is space left.",
  run({ paths, machine }) {
    const room = machine.room(existingPart(paths.root));
    if (room === null || room.files === 0) return skipped("this file system has no fixed number of files");
    const summary = `${room.ffree} more files fit`;
    const advice =
      "Remove files that nobody needs, often in a cache or mail directory: df -i and du --inodes show where.";
    if (room.ffree < 1000) return problem(`hardly any file can be made: ${summary}`, { advice });
    if (room.ffree < 20_000) return warning(`only ${summary}`, { advice });
    return ok(summary);
  },
};
