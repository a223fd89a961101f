import { existsSync } from "node:fs";
import { lockFile } from "../../../storage/index.ts";
import { count, size } from "../../../text/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { fileSizesIn, removeFilesIn } from "../data-entries.ts";

export const dataLeftovers: Check = {
  id: "data.leftovers",
  title: "Left-over files",
  explanation:
    "An upload or an export that a crash or a power cut interrupted leaves its file in `incoming`. The server removes such files when it starts; while it is down they take room.",
  run({ data, paths, server }) {
    if (data !== "there" || !existsSync(paths.incoming)) return skipped("there is nothing that could be left over");
    if (server !== null)
      return skipped("the server runs and may be taking uploads; at its start it removed what was left");
    const sizes = fileSizesIn(paths.incoming);
    if (sizes.length === 0) return ok("none");
    const files = count(sizes.length, "file");
    return warning(`${files} of interrupted uploads, ${size(sizes.reduce((sum, bytes) => sum + bytes, 0))}`, {
      advice: "The server's next start removes them; so does `transcribe doctor --fix`.",
      mending: {
        what: `Remove ${files} of interrupted uploads`,
        apply: () => {
          // While this process holds the lock, no server can start and accept uploads.
          const unlock = lockFile(paths.lockPath);
          if (unlock === null) throw new Error("a server has the data directory");
          try {
            removeFilesIn(paths.incoming);
          } finally {
            unlock();
          }
        },
      },
    });
  },
};
