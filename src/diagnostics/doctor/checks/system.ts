import { statSync } from "node:fs";
import { arch, release } from "node:os";
import { max } from "drizzle-orm";
import { tables } from "../../../database/index.ts";
import { currentTunings, memoryNeed } from "../../../devices/index.ts";
import { memoryKills, memoryOf } from "../../../machine/index.ts";
import { count, memorySize, size } from "../../../text/index.ts";
import { type Check, type CheckContext, ok, problem, skipped, warning } from "../check.ts";
import { speechModelOf } from "../context.ts";
import type { Machine } from "../machine.ts";
import { controlGroupsOf, findGpus, threadsOf } from "../machine-facts.ts";

const memory: Check = {
  id: "memory.size",
  title: "Memory",
  explanation:
    "The memory of the machine, or the limit of its container or service, compared with the needs of the server, the current model and the decoders of recordings that are processed at once. When memory runs out, the kernel kills the worker while it is processing; from then on one operation runs at once, which is slower.",
  run(context) {
    const { machine, settings, server, data, paths } = context;
    if (machine.read("/proc/meminfo") === null) return skipped("this system has no /proc/meminfo");
    const groups = controlGroupsOf(context);
    const { totalBytes: total, availableBytes: available, limitBytes } = memoryOf(groups);
    const threads = threadsOf(context);
    const tunings = data === "present" ? currentTunings(paths.verdicts, speechModelOf(context), threads) : [];
    const need = memoryNeed({
      modelBytes: statSync(speechModelOf(context)).size,
      threads,
      lanes: settings.engine.lanes,
      gpus: settings.engine.device === "cpu" ? 0 : findGpus(machine).length,
      tunings,
      slots: settings.queue.slots,
      availableBytes: available,
    });
    const source = limitBytes === null ? "the machine has" : "the container or service may use";
    const kills = groups.process === "self" ? 0 : memoryKills(groups);
    const ended = `the kernel has ended ${count(kills, "process", "processes")} of the server for lack of memory`;
    const detail = [
      `needed: about ${memorySize(need)}; ${source} ${memorySize(total)}, ${memorySize(available)} of it free`,
    ];
    const advice = "smaller model (transcribe models list), or lower engine.lanes or queue.slots.";
    if (total < need) {
      return problem(`too little: ${memorySize(total)}, but about ${memorySize(need)} are needed`, {
        detail: kills === 0 ? detail : [...detail, ended],
        advice: `Give the machine or container more memory, choose a ${advice}`,
      });
    }
    if (kills > 0) {
      return warning(ended, {
        detail,
        advice: `If this happens again, give the machine or container more memory, choose a ${advice}`,
      });
    }
    // A running server already holds its memory, so the available memory does not include it.
    if (server === null && available < need) {
      return warning(`${memorySize(available)} are free now, but about ${memorySize(need)} are needed`, {
        detail,
        advice: `Other programs use the rest: stop some, add memory, choose a ${advice}`,
      });
    }
    return ok(`${memorySize(total)}; about ${memorySize(need)} are needed`, ...detail);
  },
};

const swap: Check = {
  id: "memory.swap",
  title: "Swap",
  explanation:
    "Whether the machine is swapping memory to disk. Inference reads the whole model for every chunk of speech, so a machine that swaps is many times slower.",
  run({ machine }) {
    const info = machine.read("/proc/meminfo");
    if (info === null) return skipped("this system has no /proc/meminfo");
    const bytesOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(info)?.[1] ?? 0) * 1024;
    const total = bytesOf("SwapTotal");
    const used = total - bytesOf("SwapFree");
    if (total === 0) return ok("none");
    const summary = `${size(used)} of ${size(total)} used`;
    if (used <= total / 2 || bytesOf("MemAvailable") >= bytesOf("MemTotal") / 10) return ok(summary);
    return warning(`the machine is short of memory and swaps: ${summary}`, {
      advice: "Give it more memory, stop other programs, or choose a smaller model (transcribe models list).",
    });
  },
};

const user: Check = {
  id: "system.user",
  title: "User",
  explanation:
    "The server needs access only to its own data directory. If it runs as root, a fault in anything that it reads can take over the whole machine. This check looks at the running server, otherwise at the owner of the data directory, otherwise at the user of this command.",
  run(context) {
    const { userId, subject } = serverUser(context);
    if (userId !== 0) return ok(`${subject} ${userName(context.machine, userId)}`);
    return warning(`${subject} root, who may do everything on this machine`, {
      advice:
        "Run the server as its own user; `transcribe service install` creates one. The data directory must belong to that user too.",
    });
  },
};

/** Permission of a file's group to write, as in `chmod g+w`. */
const GROUP_WRITES = 0o020;

function serverUser({ server, machine, data, paths }: CheckContext): { userId: number; subject: string } {
  const status = server === null ? null : machine.read(`/proc/${server.pid}/status`);
  const running = /^Uid:\s+(\d+)/m.exec(status ?? "")?.[1];
  if (running !== undefined) return { userId: Number(running), subject: "the server runs as" };
  if (data !== "missing") {
    const { uid, mode } = statSync(paths.root);
    // Kubernetes gives a volume to root, and to the group of the pod (fsGroup), as whose user this command then runs.
    const isOfGroup = uid === 0 && machine.userId !== 0 && (mode & GROUP_WRITES) !== 0;
    if (!isOfGroup) return { userId: uid, subject: "the data directory belongs to" };
  }
  return { userId: machine.userId, subject: "this command runs as" };
}

/** Returns the name of a user. A user that is not in /etc/passwd, as in many containers, is shown by number. */
function userName(machine: Machine, userId: number): string {
  const name = new RegExp(`^([^:]+):[^:]*:${userId}:`, "m").exec(machine.read("/etc/passwd") ?? "")?.[1];
  return name ?? `user ${userId}`;
}

/** Recommended limit: enough for connections, uploads, the database, and a margin. */
const ADVISED_OPEN_FILES = 4096;

const openFiles: Check = {
  id: "system.open_files",
  title: "Open files",
  explanation:
    "How many files and connections one process may have open. Each client needs one, each upload two more; beyond the limit the server can't accept connections. This is the limit of this command; a service has its own (LimitNOFILE=).",
  run({ machine }) {
    const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(machine.read("/proc/self/limits") ?? "") ?? [];
    if (soft === undefined) return skipped("this system does not report its limit");
    // The runtime raises the soft limit to the hard limit at its start.
    const limit = hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
    if (limit >= ADVISED_OPEN_FILES) return ok(`up to ${hard}`);
    return warning(`at most ${limit}`, {
      advice: `Allow ${ADVISED_OPEN_FILES} or more: LimitNOFILE= in the service's unit, ulimit -n in a shell, --ulimit nofile= in docker.`,
    });
  },
};

/** Earliest plausible time: when this check was written. Without a clock battery, a machine starts decades earlier. */
const EARLIEST_TIME = Date.parse("2026-01-01");
/** A recording may be this much newer than the clock, because clocks are corrected. */
const TOLERATED_MILLISECONDS = 60_000;

const clock: Check = {
  id: "system.clock",
  title: "Clock",
  explanation:
    "Records contain the date, quotas count by day, and links and certificates expire. Therefore the clock must be plausible and not before the newest record, and should be synchronized with a time server.",
  async run(context) {
    const { machine } = context;
    const now = machine.now();
    const advice = "Set the clock: timedatectl set-ntp true, or without a network by hand: timedatectl set-time.";
    if (now < EARLIEST_TIME)
      return problem(`the time is ${new Date(now).toISOString()}, which can't be right`, { advice });
    const newest = newestRecord(context);
    if (newest !== null && newest > now + TOLERATED_MILLISECONDS) {
      const created = new Date(newest).toISOString();
      return problem(`the clock is before the creation of the newest recording, ${created}`, { advice });
    }
    const answer = await machine.run(["timedatectl", "show", "--property=NTPSynchronized", "--value"]);
    const synchronized = answer?.exitCode === 0 ? answer.output.trim() : "";
    if (synchronized === "yes") return ok("synchronized with a time server");
    if (synchronized === "no") return warning("plausible, but not synchronized, so it will drift", { advice });
    return ok("plausible; it is unknown whether a time server sets it");
  },
};

/** Returns when the newest recording was created (ms since the epoch); null if there is none or it cannot be read. */
function newestRecord({ database }: CheckContext): number | null {
  if (database === null || database instanceof Error) return null;
  const newest = max(tables.recordings.createdAt);
  try {
    return database.select({ newest }).from(tables.recordings).get()?.newest ?? null;
  } catch {
    return null;
  }
}

const kernel: Check = {
  id: "system.kernel",
  title: "Kernel",
  explanation:
    "The version of the Linux kernel. The runtime needs 5.1 and works best from 5.6 on; older kernels lack system calls that it uses.",
  run() {
    const version = release();
    const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
    if (major > 5 || (major === 5 && minor >= 6)) return ok(`${version}, ${arch()}`);
    return warning(`${version} is older than this program supports`, {
      advice: "Use a system with kernel 5.6 or newer: Debian 11, Ubuntu 20.10, RHEL 9 or later.",
    });
  },
};

export const memoryChecks = [memory, swap];
export const systemChecks = [user, openFiles, clock, kernel];
