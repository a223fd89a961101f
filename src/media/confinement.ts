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
// Standard input is a pipe of the server's: a shell waits for its end, which comes however the server ends, and then ends the
// group, itself included. A parent-death signal would spare what ffmpeg starts, and what had yet to set it. 126 is for
// a system that allows no more processes.
const LIMITING_SCRIPT = `trap 'exit 126' EXIT
exec 3<&0 </dev/null
/bin/sh -c 'read -r _; kill -KILL 0' <&3 3<&- >/dev/null 2>&1 &
exec 3<&-
trap - EXIT
ulimit -c 0
ulimit -v "$1" 2>/dev/null
ulimit -t "$2" 2>/dev/null
ulimit -f "$3" 2>/dev/null
ulimit -n 64 2>/dev/null
shift 3
exec "$@"`;

/**
 * The command line that runs `command` under limits, without network and not outliving its parent, as far as the tools go.
 *
 * It is to lead a process group, with a pipe as its standard input: when that is closed, the whole group is killed.
 */
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
