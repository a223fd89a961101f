import { existsSync, readFileSync } from "node:fs";
import { valueOr } from "../text/index.ts";
import { reach, type ServiceLayout } from "./layout.ts";

/** The result of a program of the system. */
interface ToolResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The machine on which the service is installed, except for its files. */
export interface Machine {
  /** Runs a program of the system; the exit code is 127 when there is no program of that name. */
  run(command: readonly [string, ...string[]]): ToolResult;
  /** Whether systemd is the init process here, sd_booted(3). */
  readonly hasSystemd: boolean;
}

// Root's own PATH may be anything; the tools are in the system's directories.
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Runs a program without our environment: it gets only the system's PATH, a locale and options of systemd's output. */
export function runTool(command: readonly [string, ...string[]]): ToolResult {
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

/** The machine on which this process runs. */
export const thisMachine: Machine = {
  run: runTool,
  hasSystemd: existsSync("/run/systemd/system"),
};

/** A user of the machine. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Looks a user up with getent; in the tree of another machine, in the tree's own /etc/passwd. */
export function findUser(layout: ServiceLayout, machine: Machine, name: string): User | null {
  const lines =
    layout.root === "/" ? machine.run(["getent", "passwd", name]).stdout : textOf(reach(layout, "/etc/passwd"));
  for (const line of lines.split("\n")) {
    const [user, , uid, gid] = line.split(":");
    if (user === name && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return null;
}

/** Returns the groups that exist, in the given order. */
export function existingGroups(layout: ServiceLayout, names: readonly string[]): string[] {
  const known = new Set(
    textOf(reach(layout, "/etc/group"))
      .split("\n")
      .map((line) => line.split(":")[0]),
  );
  return names.filter((name) => known.has(name));
}

/** Returns a file's text; empty when it cannot be read. */
export function textOf(path: string): string {
  return valueOr(() => readFileSync(path, "utf8"), "");
}
