import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

setDefaultTimeout(60_000);

/** A device on which every write fails as on a full disk. */
const fullDisk = "/dev/full";

describe.skipIf(!existsSync(fullDisk))(`what can't be printed${existsSync(fullDisk) ? "" : " (no /dev/full)"}`, () => {
  const directory = temporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());
  const environment = { PATH: process.env.PATH, HOME: directory.path };

  test.each(["version", "accounts --help", "config show --json"])(
    "%s prints one line and exits with 1 on a full disk",
    async (line) => {
      const stdout = openSync(fullDisk, "w");
      const command = Bun.spawn(programCommand(...line.split(" ")), {
        env: environment,
        stdin: "ignore",
        stdout,
        stderr: "pipe",
      });
      closeSync(stdout);
      const stderr = await new Response(command.stderr).text();
      expect([stderr, await command.exited]).toEqual([
        expect.stringMatching(/^transcribe: standard output can't be written: .*ENOSPC.*\n$/),
        1,
      ]);
    },
  );

  test("a command whose reader exited exits silently", async () => {
    const command = Bun.spawn(
      ["/bin/sh", "-c", 'exec 3>&1; { "$@" 2>&3; echo "ended $?" >&3; } | true', "sh", ...programCommand("licenses")],
      {
        ...{ env: environment, stdin: "ignore", stdout: "pipe", stderr: "inherit" },
      },
    );
    const printed = await new Response(command.stdout).text();
    expect(printed).toBe("ended 141\n");
  });

  test("a server whose log can't be written continues", async () => {
    const stderr = openSync(fullDisk, "w");
    const server = Bun.spawn(programCommand("serve", "--port", "0", "--data-dir", join(directory.path, "data")), {
      ...{ cwd: directory.path, env: environment, stdin: "ignore", stdout: "pipe", stderr },
    });
    closeSync(stderr);
    for await (const chunk of server.stdout) {
      const origin = /serves (http:\/\/[^/]+)/.exec(new TextDecoder().decode(chunk))?.[1];
      for (let asked = 0; asked < 3; asked++) expect((await fetch(`${origin}/healthz`)).status).toBe(200);
      server.kill("SIGTERM");
    }
    expect(await server.exited).toBe(0);
  });
});
