import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../../harness/checkout.ts";

/**
 * Runs in a mount namespace: this machine's files under a layer in memory, with scripts that record calls in the place of
 * systemd and of the program. The directory $1 has the package's scripts, and $2 is run as root of that machine.
 */
const sandbox = `
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
mkdir -p /mnt/root/scripts /mnt/root/usr/bin /mnt/root/run/systemd/system
rm -rf /mnt/root/etc/transcribe /mnt/root/var/lib/transcribe /mnt/root/usr/lib/transcribe
cp "$1"/* /mnt/root/scripts
mount -t tmpfs -o mode=755 tmpfs /mnt/root/dev
mknod -m 666 /mnt/root/dev/null c 1 3
: >/mnt/root/calls
echo inactive >/mnt/root/state
cat >/mnt/root/usr/bin/systemctl <<'END'
#!/bin/sh
if [ "$1" = is-active ]; then cat /state; grep -qx active /state; exit; fi
echo "systemctl $*" >>/calls
END
cat >/mnt/root/usr/bin/transcribe <<'END'
#!/bin/sh
echo "transcribe $*" >>/calls
mkdir -p /usr/lib/transcribe /var/lib/transcribe
END
chmod 755 /mnt/root/usr/bin/systemctl /mnt/root/usr/bin/transcribe
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot /mnt/root /bin/sh -euc "cd /; script() { /bin/sh /scripts/\\$1 \\$2; }; $2"
`;

const obstacle =
  process.getuid?.() === 0
    ? Bun.spawnSync([
        "unshare",
        "--mount",
        "sh",
        "-euc",
        sandbox,
        "sh",
        join(root, "deploy/rpm"),
        "true",
      ]).stderr.toString()
    : "it needs root";
if (obstacle !== "") console.warn(`SKIPPED: the scripts of the RPM package: ${obstacle.trim()}`);

/** Runs shell commands on a fresh machine. @returns their output, and the calls of systemd and the program */
function onMachine(commands: string) {
  const command = ["unshare", "--mount", "sh", "-euc", sandbox, "sh", join(root, "deploy/rpm")];
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command, `${commands}; echo CALLS; cat /calls`], {
    stdin: "ignore",
  });
  const [output = "", calls = ""] = stdout.toString().split("CALLS\n");
  return { exitCode, output, calls: calls.trim().split("\n"), errors: stderr.toString() };
}

const own = 'echo "# Written by \\"transcribe service install\\"" >/etc/systemd/system/transcribe.service';
const complete = "transcribe service install --from-package";
const preset = "systemctl --no-reload preset transcribe.service";
const reload = "systemctl daemon-reload";

describe.skipIf(obstacle !== "")("the scripts of the RPM package", () => {
  test("create the user without a login, complete the installation, and leave the start to the distribution", () => {
    const shown = "getent passwd transcribe | cut -d: -f1,6,7; id -gn transcribe";
    const { output, calls, errors } = onMachine(`script pre 1; ${shown}; script post 1`);
    expect([output, errors]).toEqual(["transcribe:/var/lib/transcribe:/usr/sbin/nologin\ntranscribe\n", ""]);
    expect(calls).toEqual([complete, preset, reload]);
  });

  test("use a user that exists already", () => {
    const { exitCode, errors } = onMachine("script pre 1; script pre 1");
    expect([exitCode, errors]).toEqual([0, ""]);
  });

  test("complete the installation in an image, where systemd does not run", () => {
    const { calls } = onMachine(
      "rmdir /run/systemd/system; script pre 1; script post 1; script preun 0; script postun 0",
    );
    expect(calls).toEqual([complete, preset, "systemctl --no-reload disable transcribe.service"]);
  });

  test("stop a running server before its program is replaced, and start it with the new parts", () => {
    // rpm's order: the new package's scripts around its files, then those of the old one.
    const upgrade = "script pre 2; script post 2; script preun 1; script postun 1";
    const { calls, output } = onMachine(`echo active >/state; ${upgrade}; ls -d /usr/lib/transcribe; ls /run`);
    expect(calls).toEqual([
      ...["systemctl stop transcribe.service", complete, reload],
      "systemctl start transcribe.service",
    ]);
    expect(output).toContain("/usr/lib/transcribe\n");
    expect(output).not.toContain("transcribe-upgrade");
  });

  test("do not start a server that was stopped before the upgrade", () => {
    expect(onMachine("script pre 2; script post 2").calls).toEqual([complete, reload]);
  });

  test("start a server again with the repair of an upgrade that failed halfway", () => {
    const failed = "echo active >/state; script pre 2; echo inactive >/state";
    expect(onMachine(`${failed}; script pre 2; script post 2`).calls).toEqual([
      ...["systemctl stop transcribe.service", complete, reload],
      "systemctl start transcribe.service",
    ]);
  });

  test("remove the unpacked parts with the package, and keep recordings and their user", () => {
    const remove =
      "script preun 0; script postun 0; ls -d /usr/lib/transcribe /var/lib/transcribe || true; id -un transcribe";
    const { output, calls } = onMachine(`script pre 1; script post 1; : >/calls; ${remove}`);
    expect(output).toBe(
      `transcribe: /var/lib/transcribe and the user transcribe remain. To remove all recordings, transcripts and keys:
  rm -r /var/lib/transcribe && userdel transcribe
/var/lib/transcribe
transcribe
`,
    );
    expect(calls).toEqual([
      ...["systemctl stop transcribe.service", "systemctl --no-reload disable transcribe.service"],
      reload,
    ]);
  });

  test("refuse a machine with the program's own service, before anything is changed", () => {
    const { errors, output } = onMachine(`${own}; script pre 1 && echo passed; id transcribe 2>/dev/null || echo none`);
    expect(errors).toContain("\n  transcribe service uninstall\n");
    expect(output).toBe("none\n");
  });

  test("replace only the deleted directory in the settings of the program's own installation", () => {
    const written =
      '[storage]\nruntime_dir = "/usr/local/lib/transcribe"\n# runtime_dir = "/usr/local/lib/transcribe"\n';
    const place = `mkdir /etc/transcribe; printf '%s' '${written}' >/etc/transcribe/transcribe.toml`;
    const { output } = onMachine(`${place}; script pre 1; cat /etc/transcribe/transcribe.toml`);
    expect(output).toBe(
      '[storage]\nruntime_dir = "/usr/lib/transcribe"\n# runtime_dir = "/usr/local/lib/transcribe"\n',
    );
  });

  test("have an error of the installation as their result", () => {
    const { output } = onMachine(
      'echo "exit 3" >/usr/bin/transcribe; script pre 1; script post 1 || echo "failed with $?"',
    );
    expect(output).toBe("failed with 3\n");
  });
});
