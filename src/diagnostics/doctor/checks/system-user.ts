import { statSync } from "node:fs";
import { type Check, type CheckContext, ok, warning } from "../check.ts";
import type { Machine } from "../machine.ts";

export const systemUser: Check = {
  id: "system.user",
  title: "User",
  explanation:
    "The server needs no right but to its own data directory. Run as root, a fault in anything it reads would have the whole machine. This looks at the server that runs, else at the owner of the data directory, else at who runs this command.",
  run(context) {
    const { userId, whose } = serverUser(context);
    if (userId !== 0) return ok(`${whose} ${nameOf(context.machine, userId)}`);
    return warning(`${whose} root, who may do everything on this machine`, {
      advice:
        "Run the server as a user of its own; `transcribe service install` makes one. Its data directory must belong to that user too.",
    });
  },
};

function serverUser({ server, machine, data, paths }: CheckContext): { userId: number; whose: string } {
  const status = server === null ? null : machine.read(`/proc/${server.pid}/status`);
  const running = /^Uid:\s+(\d+)/m.exec(status ?? "")?.[1];
  if (running !== undefined) return { userId: Number(running), whose: "the server runs as" };
  if (data !== "missing") return { userId: statSync(paths.root).uid, whose: "the data directory belongs to" };
  return { userId: machine.userId, whose: "this runs as" };
}

/** Returns the name of a user. A user that is not in /etc/passwd, as in many containers, is shown by number. */
function nameOf(machine: Machine, userId: number): string {
  const name = new RegExp(`^([^:]+):[^:]*:${userId}:`, "m").exec(machine.read("/etc/passwd") ?? "")?.[1];
  return name ?? `user ${userId}`;
}
