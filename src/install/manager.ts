import { serviceName } from "./layout.ts";
import type { Machine } from "./machine.ts";
import { ServiceError } from "./service-error.ts";

const unit = `${serviceName}.service`;

/** Has systemd read what was written; does nothing where it does not run. */
export function reloadUnits(machine: Machine): void {
  if (machine.hasSystemd) must(machine, ["systemctl", "daemon-reload"]);
}

/** Starts the service, or starts it again, and waits until it serves. @throws {ServiceError} with its last words */
export function restartService(machine: Machine): void {
  const { exitCode, stderr } = machine.run(["systemctl", "restart", unit]);
  if (exitCode === 0) return;
  const { stdout } = machine.run(["journalctl", "--unit", unit, "--lines", "8", "--output", "cat", "--no-pager"]);
  throw new ServiceError(`the service does not start: ${stderr.split("\n")[0]}\nIts last words:\n${stdout.trim()}`);
}

/** Stops the service and waits until it has. */
export function stopService(machine: Machine): void {
  must(machine, ["systemctl", "stop", unit]);
}

/** What systemd says of the service. */
export interface UnitState {
  /** e.g. `active`, `failed`, `inactive`, `activating` */
  readonly active: string;
  /** e.g. `running`, `dead`, `auto-restart` */
  readonly sub: string;
  readonly enabled: boolean;
  readonly pid: number | null;
  /** How often it was started again by itself. */
  readonly restarts: number;
  /** What the server last said of itself. */
  readonly says: string;
  readonly memoryBytes: number | null;
}

/** The service's unit as systemd sees it; null where there is none or no systemd. */
export function unitState(machine: Machine): UnitState | null {
  if (!machine.hasSystemd) return null;
  const shown = machine.run(["systemctl", "show", unit, "--no-pager"]);
  const properties = new Map(
    shown.stdout.split("\n").map((line) => {
      const equals = line.indexOf("=");
      return [line.slice(0, equals), line.slice(equals + 1)] as const;
    }),
  );
  const value = (name: string) => properties.get(name) ?? "";
  const count = (name: string) => (/^[1-9]\d*$/.test(value(name)) ? Number(value(name)) : null);
  if (shown.exitCode !== 0 || value("LoadState") !== "loaded") return null;
  return {
    active: value("ActiveState"),
    sub: value("SubState"),
    enabled: value("UnitFileState") === "enabled",
    pid: count("MainPID"),
    restarts: count("NRestarts") ?? 0,
    says: value("StatusText"),
    // systemd writes the largest number there is where it does not count.
    memoryBytes:
      (count("MemoryCurrent") ?? Number.MAX_SAFE_INTEGER) < Number.MAX_SAFE_INTEGER ? count("MemoryCurrent") : null,
  };
}

function must(machine: Machine, command: readonly [string, ...string[]]): void {
  const { exitCode, stderr } = machine.run(command);
  if (exitCode !== 0) throw new ServiceError(`${command.join(" ")} failed: ${stderr}`);
}
