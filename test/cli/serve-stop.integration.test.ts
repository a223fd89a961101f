import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

setDefaultTimeout(60_000);

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server that gets %s as soon as it is ready stops gracefully",
  async (signal) => {
    using directory = temporaryDirectory();
    const command = programCommand("serve", "--port", "0", "--data-dir", join(directory.path, "data"));
    const server = Bun.spawn(command, {
      cwd: directory.path,
      env: { PATH: process.env.PATH, HOME: directory.path },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    for await (const _ of server.stdout) server.kill(signal);
    const log = await new Response(server.stderr).text();
    expect(await server.exited).toBe(0);
    expect(log).toContain('"event":"server.stopped"');
  },
);
