/** A server to be killed: starts four process groups, releases the second one, and prints their leaders and the guard. */

import { childrenOf } from "../../harness/processes.ts";
import { groupGuard } from "../../src/media/guard-groups.ts";

const start = () => Bun.spawn(["sleep", "600"], { detached: true, stdio: ["ignore", "ignore", "ignore"] }).pid;
const leaders = [start(), start(), start()];
const guards: Disposable[] = [];
for (const leader of leaders) guards.push(await groupGuard.add(leader));
guards[1]?.[Symbol.dispose]();
const [guard = 0] = childrenOf(process.pid, "/bin/sh");
process.kill(guard, "SIGKILL");
while (childrenOf(process.pid, "/bin/sh").every((pid) => pid === guard)) await Bun.sleep(10);
leaders.push(start());
await groupGuard.add(leaders[3] ?? 0);
console.log(JSON.stringify(leaders));
await Bun.sleep(600_000);
