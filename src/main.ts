const args = process.argv.slice(2);

// Internal commands: the server starts these child processes itself. Only the first two load native code.
if (args[0] === "__worker") (await import("./speech/worker.ts")).runWorker();
else if (args[0] === "__selftest")
  await (await import("./devices/self-test-process.ts")).runSelfTestProcess(args.slice(1));
else if (args[0] === "__unpack") await (await import("./program/unpack-child.ts")).runUnpack(args.slice(1));
else if (args[0] === "__publish") await (await import("./disk/new-file.ts")).runPublish(args.slice(1));
else if (args[0] === "__export") await (await import("./exports/child.ts")).runExport(args.slice(1));
else if (args[0] === "__check") (await import("./standby/check-database.ts")).runCheck(args.slice(1));
else if (args[0] === "__files") (await import("./folders/file-process-child.ts")).runFileProcess();
else {
  // SIGHUP reloads the settings. Before the first read it is ignored, because its default action ends the process.
  if (args[0] === "serve") process.on("SIGHUP", () => {});
  process.exitCode = await (await import("./cli/index.ts")).runCli(args);
}

export {};
