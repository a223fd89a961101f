const args = process.argv.slice(2);

// Native code runs only in the first two, which the server starts for itself; they are no commands for people.
if (args[0] === "__worker") (await import("./engine/worker.ts")).runWorker();
else if (args[0] === "__selftest") await (await import("./engine/devices/index.ts")).runSelfTest(args.slice(1));
else process.exitCode = await (await import("./cli/index.ts")).runCli(args);

export {};
