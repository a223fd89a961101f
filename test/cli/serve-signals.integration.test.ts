import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { canSeeProcesses } from "../../harness/processes.ts";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

setDefaultTimeout(60_000);

/** Starts a server in a directory, whose standard output has a line when it is ready. */
function serve(directory: string) {
  return Bun.spawn(programCommand("serve", "--port", "0", "--data-dir", join(directory, "data")), {
    ...{ cwd: directory, env: { PATH: process.env.PATH, HOME: directory } },
    ...({ stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const),
  });
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server that gets %s as soon as it is ready stops gracefully",
  async (signal) => {
    using directory = temporaryDirectory();
    const server = serve(directory.path);
    for await (const _ of server.stdout) server.kill(signal);
    const log = await server.stderr.text();
    expect(await server.exited).toBe(0);
    expect(log).toContain('"event":"server.stopped"');
  },
);

/** Returns the signals that a process handles (proc(5)), as a bit mask. */
function signalsTaken(pid: number): bigint {
  const mask = /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return BigInt(`0x${mask}`);
}

test.skipIf(!canSeeProcesses)(
  `a server that gets SIGHUP repeatedly while it starts does start, and reloads its settings${canSeeProcesses ? "" : " (no /proc)"}`,
  async () => {
    using directory = temporaryDirectory();
    const server = serve(directory.path);
    while (server.exitCode === null && (signalsTaken(server.pid) & 1n) === 0n) await Bun.sleep(1);
    const hangups = setInterval(() => server.kill("SIGHUP"), 5);
    for await (const _ of server.stdout) {
      clearInterval(hangups);
      server.kill("SIGTERM");
    }
    clearInterval(hangups);
    const log = await server.stderr.text();
    expect([await server.exited, log]).toEqual([0, expect.stringContaining('"event":"settings.reloaded"')]);
    expect(log.indexOf('"event":"server.listening"')).toBeLessThan(log.indexOf('"event":"settings.reloaded"'));
  },
);
