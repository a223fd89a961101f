import { ServiceError, type ServiceRole, serviceNames } from "./layout.ts";
import type { Machine } from "./machine.ts";

const unitOf = (role: ServiceRole) => `${serviceNames[role]}.service`;

/** Makes systemd read its changed unit files; does nothing when systemd does not run. */
export function reloadUnits(machine: Machine): void {
  if (machine.hasSystemd) runOrThrow(machine, ["systemctl", "daemon-reload"]);
}

/** Starts or restarts the service and waits until it serves. @throws {ServiceError} with its last log lines */
export function restartService(machine: Machine, role: ServiceRole): void {
  const unit = unitOf(role);
  const { exitCode, stderr } = machine.run(["systemctl", "restart", unit]);
  if (exitCode === 0) return;
  const { stdout } = machine.run(["journalctl", "--unit", unit, "--lines", "8", "--output", "cat", "--no-pager"]);
  throw new ServiceError(`the service does not start: ${stderr.split("\n")[0]}\nLast log lines:\n${stdout.trim()}`);
}

/** Stops the service and waits until it has stopped. */
export function stopService(machine: Machine, role: ServiceRole): void {
  runOrThrow(machine, ["systemctl", "stop", unitOf(role)]);
}

/** Returns the state of the service's unit; null without systemd or without such a unit. */
export function unitState(machine: Machine, role: ServiceRole) {
  if (!machine.hasSystemd) return null;
  const shown = machine.run(["systemctl", "show", unitOf(role), "--no-pager"]);
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(shown.stdout)?.[1] ?? "";
  const count = (name: string) => (/^[1-9]\d*$/.test(value(name)) ? Number(value(name)) : null);
  const memoryBytes = count("MemoryCurrent");
  if (shown.exitCode !== 0 || value("LoadState") !== "loaded") return null;
  return {
    /** e.g. `active`, `failed`, `inactive`, `activating` */
    active: value("ActiveState"),
    /** e.g. `running`, `dead`, `auto-restart` */
    sub: value("SubState"),
    enabled: value("UnitFileState") === "enabled",
    pid: count("MainPID"),
    /** Number of automatic restarts. */
    restarts: count("NRestarts") ?? 0,
    /** Last status text that the server reported. */
    says: value("StatusText"),
    // systemd reports the largest possible number when it does not measure memory.
    memoryBytes: Number.isSafeInteger(memoryBytes) ? memoryBytes : null,
  };
}

/** Runs a program of the system. @throws {ServiceError} when it fails */
export function runOrThrow(machine: Machine, command: readonly [string, ...string[]]): void {
  const { exitCode, stderr } = machine.run(command);
  if (exitCode !== 0) throw new ServiceError(`${command.join(" ")} failed: ${stderr}`);
}
