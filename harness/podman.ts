import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { defaultCacheRoot } from "../native/build.ts";
import { installPythonPackages } from "../tools/shared/python.ts";
import { root } from "./checkout.ts";
import { run } from "./processes.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Limits of resources that a process without CAP_SYS_RESOURCE may set, which podman's defaults exceed. */
const ULIMITS = ["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"];

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

/**
 * Returns a folder for PYTHONPATH with podman-compose, from the cache or PyPI.
 * @throws {CommandError} when it cannot be had
 */
export function podmanCompose(): Promise<string> {
  return installPythonPackages(defaultCacheRoot(), {
    ...{ name: "podman-compose", packages: ["podman-compose"] },
    constraints: join(import.meta.dir, "podman-constraints.txt"),
    timeoutMilliseconds: 120_000,
  });
}

/** podman with images, containers and networks of its own. Disposing of it ends the containers and removes everything. */
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

  run(...args: readonly string[]) {
    return this.#inNamespace([...this.#command, ...args]);
  }

  /** Runs a command of podman-compose with the repository's Compose file. */
  compose(packages: string, environment: Readonly<Record<string, string>>, ...args: readonly string[]) {
    const podman = join(this.#directory.path, "podman");
    writeFileSync(podman, `#!/bin/sh\nexec ${this.#command.join(" ")} "$@"\n`, { mode: 0o755 });
    const options = ["--podman-path", podman, `--podman-run-args=${["--cgroups=disabled", ...ULIMITS].join(" ")}`];
    const command = ["python3", "-m", "podman_compose", ...options, "-f", join(root, "deploy/compose.yaml"), ...args];
    return this.#inNamespace(command, { PYTHONPATH: packages, ...environment });
  }

  get #command(): string[] {
    const { path } = this.#directory;
    const places = ["--root", "storage", "--runroot", "state", "--tmpdir", "work", "--network-config-dir", "networks"];
    // Neither overlay mounts, nor systemd and its journal are available everywhere.
    const options = ["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"];
    return ["podman", ...places.map((each) => (each.startsWith("--") ? each : join(path, each))), ...options];
  }

  #inNamespace(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const enter = ["nsenter", `--mount=/proc/${this.#namespace.pid}/ns/mnt`, `--wd=${this.#directory.path}`];
    const env = { PATH: process.env.PATH ?? "", HOME: this.#directory.path, ...environment };
    return run([...enter, "--", ...command], { cwd: "/", env });
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
