import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { valueOr } from "../text/index.ts";
import type { Declarations } from "./declare.ts";

/** Registers metrics of the server process, named as in Prometheus's client libraries, and the program's version. */
export function registerProcessMetrics(declare: Declarations, version: string): void {
  declare.gauge("transcribe_build_info", "1, by version of the program", () => [[1, version]], ["version"]);
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  declare.gauge(
    "process_start_time_seconds",
    "Time at which the server was started, in seconds since the epoch",
    () => startedAt,
  );
  declare.gauge("process_resident_memory_bytes", "Resident memory of the server, without its worker", () =>
    process.memoryUsage.rss(),
  );
  declare.readCounter("process_cpu_seconds_total", "CPU time of the server, without its worker and ffmpeg", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  declare.gauge("process_open_fds", "Open files and connections of the server (Linux)", () =>
    valueOr(() => readdirSync("/proc/self/fd").length, null),
  );
  declare.gauge("process_max_fds", "Maximum number of open files and connections of the server (Linux)", maxOpenFiles);
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  declare.gauge(
    "transcribe_event_loop_delay_seconds",
    "Longest time during which the server could not respond, since the metrics were last read",
    () => {
      const longest = delay.max / 1e9;
      delay.reset();
      return longest;
    },
  );
}

function maxOpenFiles(): number | null {
  const limits = valueOr(() => readFileSync("/proc/self/limits", "utf8"), "");
  const number = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return number === undefined ? null : Number(number);
}
