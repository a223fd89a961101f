import { join } from "node:path";
import type { Subprocess } from "bun";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { run } from "./program.ts";

/** Limits of resources that a process without CAP_SYS_RESOURCE may set, which podman's defaults exceed. */
const ULIMITS = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];

/**
 * Makes a mount namespace in which podman works without control groups: crun refuses version 2 with controllers of
 * version 1 next to it, which some machines mount. Then waits in it.
 */
const waitScript = `
mount --make-rprivate /
umount --recursive /sys/fs/cgroup || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo ready
exec sleep infinity`;

/** podman with images and containers of its own. Disposing of it ends the containers and removes everything. */
export class Podman implements AsyncDisposable {
  readonly #directory = temporaryDirectory();
  readonly #namespace: Subprocess<"ignore", "pipe", "inherit">;

  private constructor(namespace: Subprocess<"ignore", "pipe", "inherit">) {
    this.#namespace = namespace;
  }

  /** Returns a reason why podman cannot run containers here; null if it can. */
  static obstacle(): string | null {
    if (process.getuid?.() !== 0) return "it needs root";
    const missing = ["podman", "crun", "unshare", "nsenter"].find((tool) => Bun.which(tool) === null);
    return missing === undefined ? null : `${missing} is missing (on Debian: apt install podman crun)`;
  }

  static async start(): Promise<Podman> {
    const namespace = Bun.spawn(["unshare", "--mount", "sh", "-euc", waitScript], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { value } = await namespace.stdout.getReader().read();
    if (value === undefined) throw new Error("the namespace for podman could not be made");
    return new Podman(namespace);
  }

  /** Runs a command of podman. */
  run(...args: readonly string[]) {
    const { path } = this.#directory;
    const places = ["--root", join(path, "storage"), "--runroot", join(path, "state"), "--tmpdir", join(path, "work")];
    const command = ["nsenter", `--mount=/proc/${this.#namespace.pid}/ns/mnt`, "podman", ...places];
    // Neither overlay mounts, nor systemd and its journal are available everywhere.
    const options = ["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"];
    return run([...command, ...options, ...args], { cwd: "/", env: { PATH: process.env.PATH ?? "", HOME: path } });
  }

  /** Starts a container in the background, as restricted as the documentation recommends, and without a network. */
  runContainer(name: string, ...args: readonly string[]) {
    const restrictions = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
    const here = ["--network", "none", "--cgroups", "disabled", ...ULIMITS];
    return this.run("run", "--detach", "--name", name, ...restrictions, ...here, ...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("rm", "--all", "--force", "--time", "0");
    this.#namespace.kill("SIGKILL");
    await this.#namespace.exited;
    this.#directory[Symbol.dispose]();
  }
}
