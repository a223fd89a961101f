import { describe, expect, test } from "bun:test";
import { basename } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { builtProgram } from "../../harness/compiled-program.ts";
import { run } from "../../harness/processes.ts";

const sample = samplePath("sample.wav");
const roots = (process.env.TEST_BARE_ROOTS ?? "").split(":").filter((root) => root !== "");
const ready = available("the program in one file on bare Debian systems", sample);
if (roots.length === 0) {
  console.warn("SKIPPED: the program in one file on bare Debian systems; scripts/test --binary makes them, as root");
}

/**
 * In a mount namespace: the root read-only to the last file, with a small writable disk for the data; then the sample as
 * nobody, who has no home. `$1` is the root, `$2` the program, `$3` the sample.
 */
const script = `
mount --bind "$1" "$1"
mount -t tmpfs -o size=2g,mode=755 none "$1/srv"
mkdir -m 700 "$1/srv/data"
chown 65534:65534 "$1/srv/data"
touch "$1/srv/transcribe" "$1/srv/sample.wav"
mount --bind "$2" "$1/srv/transcribe"
mount --bind "$3" "$1/srv/sample.wav"
mount -t proc none "$1/proc"
mount -o remount,ro,bind "$1"
exec chroot --userspec=65534:65534 "$1" sh -c '
  cd /
  touch /tmp/here 2>/dev/null && exit 9
  /srv/transcribe quickstart --port 0 --data-dir /srv/data /srv/sample.wav 2>/srv/data/said && status=0 || status=$?
  cat /srv/data/said >&2
  server=$(sed -n "s/.*(stop it: kill \\([0-9]*\\)).*/\\1/p" /srv/data/said)
  kill "$server"
  while kill -0 "$server" 2>/dev/null; do sleep 0.1; done
  exit $status
'`;

describe.if(ready && roots.length > 0)("the program in one file", () => {
  test.each(roots.map((root) => [basename(root), root]))(
    "transcribes on a bare and read-only %s, as an unprivileged user",
    async (_, root) => {
      const command = ["unshare", "--mount", "sh", "-euc", script, "sh", root, await builtProgram(), sample];
      const { exitCode, stdout, stderr } = await run(command, { cwd: "/", env: { PATH: process.env.PATH ?? "" } });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: expect.stringContaining("The server keeps running"),
      });
      expect(stdout).toMatch(/^ 0:\d\d\.\d – .* A {2}.*hello/im);
      expect(stdout).toMatch(/ B {2}.*Neither did I/i);
    },
    180_000,
  );
});
