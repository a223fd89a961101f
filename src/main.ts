import { runCli } from "./cli/index.ts";

const [first, ...rest] = process.argv.slice(2);

// Native code runs only in these two, which the server starts for itself; they are no commands for people.
if (first === "__worker") (await import("./engine/worker.ts")).runWorker();
else if (first === "__selftest") await (await import("./engine/devices/index.ts")).runSelfTest(rest);
else process.exitCode = await runCli(process.argv.slice(2));
