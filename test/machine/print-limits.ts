import { cpuQuota, memoryKills, memoryOf, usableProcessors } from "../../src/machine/index.ts";

// A program that prints its limits, and its kills after a child process has allocated far more than the limit.
const before = { ...memoryOf(), quota: cpuQuota(), processors: usableProcessors(), kills: memoryKills() };
const allocates = `const held = []; for (;;) held.push(new Uint8Array(${32 * 1024 ** 2}).fill(1));`;
const child = Bun.spawn([process.execPath, "-e", allocates], { stdio: ["ignore", "ignore", "ignore"] });
await child.exited;
console.log(JSON.stringify({ ...before, signal: child.signalCode, killsAfter: memoryKills() }));
