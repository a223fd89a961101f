import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { type CommandResult, resultOf } from "../../../harness/processes.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";

/** Units that are irrelevant for a service and take time without a console or a network. */
const masked = ["getty.target", "console-getty.service", "systemd-logind.service", "systemd-networkd.service"];

/** Starts systemd in the tree $1, with its changes in the directory $2 and its processes in the control group $3. */
const bootScript = `set -eu
echo $$ > "$3/cgroup.procs"
exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child --propagation private sh -euc '
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
cd "$2/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/pts dev/shm
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
: > etc/machine-id
for unit in ${masked.join(" ")}; do ln -sf /dev/null etc/systemd/system/$unit; done
ln -sf /lib/systemd/system/multi-user.target etc/systemd/system/default.target
hostname localhost
mkdir .outside
pivot_root . .outside
ip link set lo up
umount -l /.outside
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb /lib/systemd/systemd --system
' sh "$1" "$2"`;

/** A Debian system with its own systemd in namespaces of this machine. Disposing of it ends all its processes. */
export class BootedMachine implements AsyncDisposable {
  readonly #scope = temporaryDirectory();
  readonly #controlGroup: string;
  readonly #outer: Subprocess;
  #first = 0;

  constructor(tree: string) {
    const unified = readFileSync("/proc/self/mounts", "utf8").match(/^cgroup2 (\S+) /m)?.[1];
    if (unified === undefined) throw new Error("there is no cgroup2 here");
    this.#controlGroup = join(unified, `transcribe-test-${process.pid}-${Bun.randomUUIDv7()}`);
    mkdirSync(this.#controlGroup);
    this.#outer = Bun.spawn(["sh", "-c", bootScript, "sh", tree, this.#scope.path, this.#controlGroup], {
      stdio: ["ignore", "ignore", "ignore"],
    });
  }

  /** Writes a file of the system. */
  write(path: string, content: string | Uint8Array, mode = 0o644): void {
    writeFileSync(`/proc/${this.#first}/root${path}`, content, { mode });
  }

  /** Copies a program into the system without reading it into memory. */
  copy(path: string, source: string): void {
    copyFileSync(source, `/proc/${this.#first}/root${path}`);
    chmodSync(`/proc/${this.#first}/root${path}`, 0o755);
  }

  read(path: string): string {
    return readFileSync(`/proc/${this.#first}/root${path}`, "utf8");
  }

  /** Waits until the system has started all its units. */
  async booted(): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      if (this.#outer.exitCode !== null) throw new Error(`the system does not boot: ${this.#outer.exitCode}`);
      const [child] = readFileSync(`/proc/${this.#outer.pid}/task/${this.#outer.pid}/children`, "utf8").split(" ");
      this.#first = Number(child);
      const state = this.#first > 0 ? await this.run("systemctl", "is-system-running") : null;
      // A module that can't be loaded here makes the state "degraded".
      if (/^(?:running|degraded)$/.test(state?.stdout.trim() ?? "")) return;
      await Bun.sleep(100);
    }
    throw new Error("the system does not come up");
  }

  /** Runs a command in the system as its root. */
  run(...command: string[]): Promise<CommandResult> {
    const enter = [
      "nsenter",
      `--target=${this.#first}`,
      ...["mount", "uts", "ipc", "net", "pid", "cgroup"].map((name) => `--${name}`),
    ];
    return resultOf(
      Bun.spawn([...enter, "--", ...command], {
        ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: 120_000 },
        env: { PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LC_ALL: "C.UTF-8" },
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The kernel ends every process of a pid namespace together with its first one.
    if (this.#first > 0 && this.#outer.exitCode === null) process.kill(this.#first, "SIGKILL");
    this.#outer.kill("SIGKILL");
    await this.#outer.exited;
    await removeControlGroup(this.#controlGroup);
    this.#scope[Symbol.dispose]();
  }
}

async function removeControlGroup(path: string): Promise<void> {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeControlGroup(join(path, entry.name));
  }
  // A killed process stays in the control group for a moment.
  for (let tries = 0; tries < 50; tries++) {
    try {
      rmdirSync(path);
      return;
    } catch {
      await Bun.sleep(100);
    }
  }
}
