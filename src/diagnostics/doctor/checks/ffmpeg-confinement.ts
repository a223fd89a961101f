import { type Confinement, parseConfinement } from "../../../media/index.ts";
import { type Check, ok, problem, warning } from "../check.ts";
import { filesOf } from "../files-of.ts";
import type { Machine } from "../machine.ts";

export const ffmpegConfinement: Check = {
  id: "ffmpeg.confinement",
  title: "Confinement of ffmpeg",
  explanation:
    "A recording may be made to attack ffmpeg. So ffmpeg can open its one input, its outputs and the system's libraries alone (Landlock), has a fixed list of system calls without sockets and new processes (seccomp), an empty network namespace, at most 64 threads, no new privileges, and limits of memory, time and output. Here all of this is applied to a process, which reports what is active. Landlock needs Linux 5.13, the namespace and the limit of threads need a kernel that lets users make user namespaces.",
  async run(context) {
    const { machine } = context;
    const answer = await machine.run([filesOf(context).confine, "--report"]);
    const confinement = parseConfinement(answer?.output ?? "");
    if (confinement === null) {
      return problem("the program that confines ffmpeg does not run, so no recording can be read", {
        detail: [answer?.output.trim().split("\n")[0] || "it can't be started"],
        advice: "Unpack the program again with `transcribe doctor --fix`, or run scripts/setup in a checkout.",
      });
    }
    const active = parts.filter(({ isActive }) => isActive(confinement)).map(({ name }) => name);
    const inactive = parts.filter(({ isActive }) => !isActive(confinement));
    const detail = [
      ...inactive.map(({ name, instead }) => `not active: ${name}; ${instead}`),
      ...(inactive.length === 0 ? [] : reasons(machine, confinement)),
    ];
    const summary = [...active, "no new privileges, limits on memory, time and output"].join(", ");
    if (confinement.landlock > 0 && confinement.seccomp) return ok(summary, ...detail);
    return warning(`ffmpeg is confined in part: ${summary}`, {
      detail,
      advice:
        "Use a kernel with Landlock and seccomp, and a container engine whose seccomp profile allows Landlock's system calls (Docker 23 and Podman 4 do). Else give the container or service no file and no network that it does not need.",
    });
  },
};

interface Part {
  readonly name: string;
  readonly isActive: (confinement: Confinement) => boolean;
  /** The consequence if this part is not active. */
  readonly instead: string;
}

const parts: readonly Part[] = [
  {
    name: "its own files alone (Landlock)",
    isActive: ({ landlock }) => landlock > 0,
    instead: "ffmpeg can open what its user can",
  },
  {
    name: "no sockets and no new processes (seccomp)",
    isActive: ({ seccomp }) => seccomp,
    instead: "ffmpeg can call all of the kernel that its user can",
  },
  {
    name: "an empty network namespace",
    isActive: ({ networkNamespace }) => networkNamespace,
    instead: "seccomp refuses sockets where it is active",
  },
  {
    name: "at most 64 threads",
    isActive: ({ threadLimit }) => threadLimit,
    instead: "the memory limit bounds them; root has no limit of threads",
  },
];

function reasons(machine: Machine, { landlock }: Confinement): string[] {
  const value = (path: string) => machine.read(path)?.trim();
  const modules = value("/sys/kernel/security/lsm");
  return [
    ...(landlock === 0 && modules !== undefined && !modules.split(",").includes("landlock")
      ? ["landlock is not among the kernel's security modules (lsm= on its command line)"]
      : []),
    ...(value("/proc/sys/kernel/unprivileged_userns_clone") === "0" ? ["kernel.unprivileged_userns_clone is 0"] : []),
    ...(value("/proc/sys/user/max_user_namespaces") === "0" ? ["user.max_user_namespaces is 0"] : []),
    ...(value("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1"
      ? ["kernel.apparmor_restrict_unprivileged_userns is 1 (Ubuntu 23.10 and later)"]
      : []),
  ];
}
