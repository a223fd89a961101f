import { type Check, ok, skipped, warning } from "../check.ts";

/** Recommended limit: enough for connections, uploads, the database, and a margin. */
const advised = 4096;

export const systemOpenFiles: Check = {
  id: "system.open_files",
  title: "Open files",
  explanation:
    "How many files and connections one process may have open. Each client takes one, each upload two more; beyond the limit the server can't take connections. It counts what this command may; a service has its own (LimitNOFILE=).",
  run({ machine }) {
    const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(machine.read("/proc/self/limits") ?? "") ?? [];
    if (soft === undefined) return skipped("this system does not say how many may be open");
    // The runtime raises the soft limit to the hard limit at its start.
    const limit = hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
    if (limit < advised) {
      return warning(`at most ${limit}`, {
        advice: `Allow ${advised} or more: LimitNOFILE= in the service's unit, ulimit -n in a shell, --ulimit nofile= in docker.`,
      });
    }
    return ok(`up to ${hard}`);
  },
};
