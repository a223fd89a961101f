import { readFileSync } from "node:fs";
import { reach, type ServiceLayout } from "./layout.ts";

/** How a command ended. */
export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The machine that the service is installed on, as far as it is more than files. */
export interface Machine {
  /** Runs a program of the system; 127 where there is none of that name. */
  run(command: readonly [string, ...string[]]): Ended;
  /** Whether systemd is the first process here, sd_booted(3). */
  readonly hasSystemd: boolean;
  readonly isRoot: boolean;
}

// Root's own PATH may be anything; the tools lie in the system's places.
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Runs a program with nothing of our environment but where programs lie. */
export function runTool(command: readonly [string, ...string[]]): Ended {
  const program = Bun.which(command[0], { PATH: systemPath });
  if (program === null) return { exitCode: 127, stdout: "", stderr: `${command[0]} is not installed` };
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...command.slice(1)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: systemPath, LC_ALL: "C.UTF-8", SYSTEMD_PAGER: "", SYSTEMD_COLORS: "0" },
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString().trim() };
}

/** A user of the machine. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Looks a user up, wherever the machine keeps its users; in a tree that is put together, in its own file. */
export function findUser(layout: ServiceLayout, machine: Machine, name: string): User | null {
  const lines =
    layout.root === "/" ? machine.run(["getent", "passwd", name]).stdout : textOf(reach(layout, "/etc/passwd"));
  for (const line of lines.split("\n")) {
    const [user, , uid, gid] = line.split(":");
    if (user === name && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return null;
}

/** Which of these groups there are, in their order. */
export function existingGroups(layout: ServiceLayout, names: readonly string[]): string[] {
  const known = new Set(
    textOf(reach(layout, "/etc/group"))
      .split("\n")
      .map((line) => line.split(":")[0]),
  );
  return names.filter((name) => known.has(name));
}

/** A file's text; empty where it can't be read. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
