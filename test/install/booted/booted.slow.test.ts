import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { samplePath } from "../../../harness/checkout.ts";
import { BootedMachine } from "./booted-machine.ts";

const { TEST_SYSTEMS: systems, TEST_INSTALLER: installer = "" } = process.env;
if (systems === undefined) console.warn("SKIPPED: the service under systemd itself; scripts/test-service runs it");

const timeout = 120_000;
setDefaultTimeout(timeout);
const unit = "/etc/systemd/system/transcribe.service";
const settings = "/etc/transcribe/transcribe.toml";

/** Prints the forbidden operations that a service with this unit can do. */
const trespasses = `exec 3>&1 >/dev/null 2>&1
say() { echo "$@" >&3; }
for d in / /etc /usr/local/bin /usr/local/lib/transcribe /srv /opt /home /root /run /boot; do
  touch $d/x && say writes $d
done
for d in /var/lib/transcribe /tmp /var/tmp /dev/shm; do
  cp /bin/true $d/true && $d/true && say runs from $d
  rm -f $d/true
done
ls /home && say reads homes
cat /etc/shadow && say reads passwords
unshare --mount true && say mounts
unshare --pid --fork true && say numbers processes anew
nice -n -5 true && test "$(nice -n -5 nice)" = -5 && say takes precedence
ls /proc/1/environ && say sees the processes of others
grep '^CapBnd:.*[1-9a-f]' /proc/self/status && say has capabilities
say all tried`;

/** The confinement of ffmpeg as it reports it; the host's kernel may lack Landlock. */
const report = "/usr/local/lib/transcribe/*/ffmpeg/confine --report";

describe.skipIf(systems === undefined).each((systems ?? "").split(":"))("on %s", (tree) => {
  let machine: BootedMachine;
  const systemctl = async (...args: string[]) => (await machine.run("systemctl", ...args)).stdout.trim();
  const property = (name: string) => systemctl("show", "transcribe", "--value", "-p", name);
  const log = async () => (await machine.run("journalctl", "-u", "transcribe", "-o", "cat", "--no-pager")).stdout;
  const until = async (isTrue: () => Promise<boolean>) => {
    const giveUpAt = performance.now() + timeout / 2;
    while (!(await isTrue())) {
      if (performance.now() > giveUpAt) throw new Error(`it does not come true: ${isTrue}\n${await log()}`);
      await Bun.sleep(100);
    }
  };
  const ready = () => until(async () => (await machine.run("transcribe", "service", "status")).exitCode === 0);

  beforeAll(async () => {
    machine = new BootedMachine(tree);
    await machine.booted();
    machine.write("/srv/installer", readFileSync(installer), 0o755);
    machine.write("/srv/jfk.mp3", readFileSync(samplePath("jfk.mp3")));
  });
  afterAll(() => machine?.[Symbol.asyncDispose]());

  test(`${basename(tree)}: the program installs itself and transcribes`, async () => {
    const installed = await machine.run("/srv/installer", "service", "install");
    expect([installed.exitCode, installed.stderr]).toEqual([0, ""]);
    expect(await property("ActiveState")).toBe("active");
    expect(await property("NRestarts")).toBe("0");
    await ready();
    await machine.run("transcribe", "accounts", "create", "acme");
    const created = await machine.run("transcribe", "keys", "create", "--account", "acme", "--json");
    const key = /"key": "(\w+)"/.exec(created.stdout)?.[1] ?? "";
    const submitted = await machine.run(
      "env",
      `TRANSCRIBE_API_KEY=${key}`,
      "transcribe",
      "submit",
      "/srv/jfk.mp3",
      "--wait",
    );
    // The lines are as wide as a terminal.
    expect(submitted.stdout.replace(/\s+/g, " ")).toContain("what you can do for your country");
    expect(await property("StatusText")).toMatch(/^Ready; \d processing, 0 queued\.$/);
    const owners = await machine.run("find", "/var/lib/transcribe", "!", "-user", "transcribe");
    expect(owners.stdout).toBe("");
  });

  test("the unit forbids everything that ffmpeg and inference don't need", async () => {
    const probe = (script: string) => {
      machine.write("/srv/probe.sh", script);
      const oneShot = machine
        .read(unit)
        .replace(/^ExecStart=.*$/m, "ExecStart=/bin/sh /srv/probe.sh")
        .replace("Type=notify", "Type=oneshot")
        .replace(/^(?:Restart=|Watchdog).*$/gm, "");
      machine.write("/etc/systemd/system/probe.service", oneShot);
      return machine.run(
        "sh",
        "-c",
        "systemctl daemon-reload; systemctl start probe; journalctl --sync; journalctl -u probe -t sh -o cat --no-pager",
      );
    };
    const reported = (await probe(report)).stdout;
    const outside = (await machine.run("sh", "-c", report)).stdout;
    const { landlock } = JSON.parse(outside);
    expect(JSON.parse(reported)).toEqual({ landlock, seccomp: true, networkNamespace: true, threadLimit: true });
    const tried = await probe(trespasses);
    expect(tried.stdout).toBe(`${reported}all tried\n`);
  });

  test("a watched folder waits without the lines that folders add prints, and is processed with them", async () => {
    await machine.run("sh", "-c", "groupadd people; usermod -aG people transcribe; mkdir -m 2770 /srv/in");
    await machine.run("sh", "-c", "chgrp people /srv/in; cp /srv/jfk.mp3 /srv/in; chgrp people /srv/in/jfk.mp3");
    await machine.run("chmod", "640", "/srv/in/jfk.mp3");
    const add = (format: string) =>
      machine.run(..."transcribe folders add /srv/in --account acme --format".split(" "), format);
    const added = await add("srt");
    expect([added.exitCode, added.stdout]).toEqual([0, "watching /srv/in\n"]);
    const lines = added.stderr.match(/^ {2}(\[Service\]|ReadWritePaths=.*)$/gm)?.map((line) => line.trim());
    expect(lines).toEqual(["[Service]", "ReadWritePaths=-/srv/in"]);
    const listed = async () => (await machine.run("transcribe", "folders", "list", "--json")).stdout;
    await until(async () => /"hindrance": "(?:denied|read_only)"/.test(await listed()));
    await machine.run("mkdir", "-p", `${unit}.d`);
    machine.write(`${unit}.d/folders.conf`, (lines ?? []).join("\n"));
    await systemctl("daemon-reload");
    await systemctl("restart", "transcribe");
    await ready();
    await until(async () => (await listed()).includes('"done": 1'));
    const found = await machine.run("sh", "-c", "stat -c '%n %U %G %a' /srv/in/*.srt /srv/in/done /srv/in/done/*");
    expect(found.stdout).toBe(
      "/srv/in/jfk.srt transcribe people 640\n/srv/in/done transcribe people 770\n/srv/in/done/jfk.mp3 root people 640\n",
    );
    const again = await add("txt");
    expect(again.stderr).toBe("");
    await machine.run("transcribe", "folders", "remove", "/srv/in");
  });

  test("a server that hangs is killed and restarted", async () => {
    await machine.run("mkdir", "-p", `${unit}.d`);
    machine.write(`${unit}.d/watchdog.conf`, "[Service]\nWatchdogSec=3\n");
    await systemctl("daemon-reload");
    await systemctl("restart", "transcribe");
    await ready();
    const pid = await property("MainPID");
    expect((await machine.run("sh", "-c", `kill -STOP ${pid}`)).exitCode).toBe(0);
    const startedAgain = () => Promise.all([property("NRestarts"), property("ActiveState")]);
    await until(async () => (await startedAgain()).join() === "1,active");
    expect(await property("MainPID")).not.toBe(pid);
    await ready();
  });

  test("invalid settings don't change a running server, and cause no restart loop", async () => {
    const right = machine.read(settings);
    const pid = await property("MainPID");
    machine.write(settings, `${right}\nno_such_setting = 1\n`);
    await systemctl("reload", "transcribe");
    await until(async () => (await log()).includes('"settings.not_reloaded"'));
    expect(await property("MainPID")).toBe(pid);
    await systemctl("restart", "transcribe");
    expect([await property("ActiveState"), await property("ExecMainStatus")]).toEqual(["failed", "2"]);
    expect((await machine.run("transcribe", "service", "status")).exitCode).toBe(2);
    machine.write(settings, right);
    await machine.run("/srv/installer", "service", "install");
    await ready();
  });

  test("an uninstallation with --purge leaves nothing", async () => {
    const gone = await machine.run("transcribe", "service", "uninstall", "--purge", "--yes");
    expect([gone.exitCode, gone.stderr]).toEqual([0, ""]);
    expect(await property("LoadState")).toBe("not-found");
    const places = "/usr/local/bin/transcribe /usr/local/lib/transcribe /var/lib/transcribe /etc/transcribe";
    const left = `ls -d ${places} ${unit}; id transcribe; readlink /proc/[0-9]*/exe | grep transcribe`;
    expect((await machine.run("sh", "-c", left)).stdout).toBe("");
  });
});
