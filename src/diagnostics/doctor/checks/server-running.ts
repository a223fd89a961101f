import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { trustOf } from "../../../server/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, ok, problem, skipped, warning } from "../check.ts";

export const serverRunning: Check = {
  id: "server.running",
  title: "Server",
  explanation:
    "Whether a server runs on this data directory, is alive (/healthz) and ready to take work (/readyz). A server that was killed leaves a note in state/server.json that leads nowhere.",
  async run({ data, paths, server, machine }) {
    if (server === null) {
      const note = join(paths.state, "server.json");
      if (data !== "there" || !existsSync(note)) return skipped("no server runs on this data directory");
      const pid = /"pid":\s*(\d+)/.exec(machine.read(note) ?? "")?.[1];
      if (pid !== undefined && /serve|quickstart/.test(machine.read(`/proc/${pid}/cmdline`) ?? "")) {
        return problem(`process ${pid} should serve, and does not answer`, {
          advice: "It may be starting, or short of memory or CPU: look at its log, and restart it if it stays so.",
        });
      }
      return warning("no server answers where the last one was; it did not stop in order", {
        advice:
          "Start it: transcribe serve, or systemctl start transcribe. `transcribe doctor --fix` removes the old note.",
        mending: { what: `Remove ${note}`, apply: () => rmSync(note) },
      });
    }
    const { origin, pid } = server;
    try {
      const answer = await fetch(`${origin}/readyz`, {
        signal: AbortSignal.timeout(5000),
        ...trustOf(server),
      });
      if (answer.ok) return ok(`${origin} is ready to take work (process ${pid})`);
      return problem(`${origin} is alive, but not ready to take work`, {
        detail: [(await answer.text()).slice(0, 500)],
        advice: "Right after a start it loads its models: ask again in a moment. Else its log says why.",
      });
    } catch (error) {
      return problem(`${origin} does not answer in 5 s`, {
        detail: [messageOf(error)],
        advice: "It may be short of memory or of CPU: look at its log, and restart it if it stays so.",
      });
    }
  },
};
