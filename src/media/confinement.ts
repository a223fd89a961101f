import { getuid } from "node:process";

/** What one confined process may use. */
export interface ResourceLimits {
  /** Address space. */
  readonly memoryBytes: number;
  /** Processor time over all threads. */
  readonly cpuSeconds: number;
  /** The largest file it may write. */
  readonly outputBytes: number;
}

/** Prefixes for a command, each ending in an exec of what follows. */
export interface ConfinementTools {
  /** A new, empty network namespace; empty where the kernel or the container forbids one. */
  readonly withoutNetwork: readonly string[];
  /** No new privileges; empty where util-linux is missing. */
  readonly withoutPrivileges: readonly string[];
}

// $1 to $3 are the limits, in the units of POSIX sh: KiB, seconds, blocks of 512 bytes. A limit that the system doesn't
// know (macOS has no -v), or that is already lower, is left as it is. `exec` keeps the process id.
// A line on standard input starts the command: a server that ended before it could guard it leaves nothing behind.
const LIMITING_SCRIPT = `read -r _ || exit 126
exec </dev/null
ulimit -c 0
ulimit -v "$1" 2>/dev/null
ulimit -t "$2" 2>/dev/null
ulimit -f "$3" 2>/dev/null
ulimit -n 64 2>/dev/null
shift 3
exec "$@"`;

/** The command line that runs `command` under limits and without network, as far as the tools go, once it is sent a line. */
export function confinedCommand(
  command: readonly string[],
  limits: ResourceLimits,
  tools: ConfinementTools,
): [string, ...string[]] {
  return [
    "/bin/sh",
    "-c",
    LIMITING_SCRIPT,
    "sh",
    String(Math.ceil(limits.memoryBytes / 1024)),
    String(Math.ceil(limits.cpuSeconds)),
    String(Math.ceil(limits.outputBytes / 512)),
    ...tools.withoutNetwork,
    ...tools.withoutPrivileges,
    ...command,
  ];
}

let knownTools: Promise<ConfinementTools> | undefined;

/** The confinement this machine allows, found out once per process by trying. */
export function findConfinementTools(): Promise<ConfinementTools> {
  knownTools ??= tryTools();
  return knownTools;
}

async function tryTools(): Promise<ConfinementTools> {
  const unshare = Bun.which("unshare", { PATH: SYSTEM_PATH });
  const setpriv = Bun.which("setpriv", { PATH: SYSTEM_PATH });
  // Root must not go into a user namespace: it would lose the right to read directories of others, where the data may lie.
  const netless =
    unshare === null
      ? []
      : getuid?.() === 0
        ? [unshare, "--net", "--"]
        : [unshare, "--user", "--map-current-user", "--net", "--"];
  const unprivileged = setpriv === null ? [] : [setpriv, "--no-new-privs", "--"];
  const [netlessWorks, unprivilegedWorks] = await Promise.all([works(netless), works(unprivileged)]);
  return { withoutNetwork: netlessWorks ? netless : [], withoutPrivileges: unprivilegedWorks ? unprivileged : [] };
}

// The server's own PATH may be anything; these tools lie in the system's places.
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin";

async function works(prefix: readonly string[]): Promise<boolean> {
  if (prefix.length === 0) return false;
  const trial = Bun.spawn([...prefix, "/bin/sh", "-c", ":"], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return (await trial.exited) === 0;
}
