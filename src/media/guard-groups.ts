import type { Subprocess } from "bun";
import { codeOf } from "../text/index.ts";

type Guard = Subprocess<"pipe", "ignore", "ignore">;

/** Reads which groups to add (+) and to remove (-), until the pipe closes. Then it kills the remaining ones. */
const SCRIPT = `
groups=" "
while read -r change group; do
  case "$change$groups" in
    +*) groups="$groups$group " ;;
    -*" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
`;

/** Time for which the guard waits for another group. The start of a process blocks this one for 2 to 80 ms. */
const IDLE_MILLISECONDS = 60_000;

/**
 * Ensures that process groups are killed when this process ends for any reason. A shell waits until its pipe from this
 * process closes; all groups share it. A parent-death signal would not suffice: it does not reach the processes that a
 * group's leader has started, and is lost if the parent exits before it is set. Some systems do not have it.
 */
class GroupGuard {
  readonly #groups = new Set<number>();
  #running: Guard | null = null;
  #idle: NodeJS.Timeout | undefined;

  /** Guards a group until the result is disposed. @throws {Error} if the system permits no more processes */
  async add(leader: number): Promise<Disposable> {
    clearTimeout(this.#idle);
    this.#groups.add(leader);
    try {
      if (this.#running === null || !(await send(this.#running, `+ ${leader}\n`))) await this.#start();
    } catch (error) {
      // The leader has not started its program and would wait for its line.
      this.#groups.delete(leader);
      killGroup(leader);
      throw error;
    }
    return { [Symbol.dispose]: () => this.#remove(leader) };
  }

  #remove(leader: number): void {
    this.#groups.delete(leader);
    if (this.#running !== null) void send(this.#running, `- ${leader}\n`);
    if (this.#groups.size === 0) this.#idle = setTimeout(() => this.#end(), IDLE_MILLISECONDS).unref();
  }

  async #start(): Promise<void> {
    // The guard is a child of this process and of no other process, which would have to wait for it when it ends.
    const guard: Guard = Bun.spawn(["/bin/sh", "-c", SCRIPT], {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
      env: {},
      cwd: "/",
      detached: true,
    });
    guard.unref();
    this.#running = guard;
    void guard.exited.then(() => this.#onExit(guard));
    await send(guard, [...this.#groups].map((leader) => `+ ${leader}\n`).join(""));
  }

  /** Replaces a guard that another process killed. */
  #onExit(guard: Guard): void {
    if (this.#running !== guard) return;
    this.#running = null;
    if (this.#groups.size > 0) void this.#start().catch(() => {});
  }

  #end(): void {
    const guard = this.#running;
    this.#running = null;
    void guard?.stdin.end();
  }
}

export const groupGuard = new GroupGuard();

/** Kills a process group, which may already be empty. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    // macOS returns EPERM for a group whose last process waits to be reaped.
    if (!["ESRCH", "EPERM"].includes(codeOf(error))) throw error;
  }
}

/** Sends lines to a guard. @returns false if it has ended */
async function send({ stdin }: Guard, lines: string): Promise<boolean> {
  try {
    stdin.write(lines);
    await stdin.flush();
    return true;
  } catch {
    return false;
  }
}
