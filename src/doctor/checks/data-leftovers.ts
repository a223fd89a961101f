import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DataDirectory } from "../../storage/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";
import { count, size } from "../words.ts";

export const dataLeftovers: Check = {
  id: "data.leftovers",
  title: "Left-over files",
  explanation:
    "An upload that a crash or a power cut interrupted leaves its file in `incoming`. The server removes such files when it starts; while it is down they take room.",
  run({ data, paths, server }) {
    if (data !== "there" || !existsSync(paths.incoming)) return skipped("there is nothing that could be left over");
    if (server !== null)
      return skipped("the server runs and may be taking uploads; at its start it removed what was left");
    const left = readdirSync(paths.incoming).map((name) => join(paths.incoming, name));
    if (left.length === 0) return ok("none");
    const bytes = left.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
    const files = count(left.length, "file");
    return warning(`${files} of interrupted uploads, ${size(bytes)}`, {
      advice: "The server's next start removes them; so does `transcribe doctor --fix`.",
      mending: {
        what: `Remove ${files} of interrupted uploads`,
        apply: () => {
          // With the lock held no server can begin to take uploads in between.
          const unlock = new DataDirectory(paths.root).lock();
          try {
            for (const path of left) rmSync(path, { recursive: true, force: true });
          } finally {
            unlock();
          }
        },
      },
    });
  },
};
