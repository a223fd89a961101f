import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, type Registry } from "prom-client";
import { gauge, labelledGauge } from "./declare.ts";

/** Registers metrics of the server process, named as in Prometheus's client libraries, and the program's version. */
export function registerProcessMetrics(registry: Registry, version: string): void {
  labelledGauge(registry, "transcribe_build_info", "1, by version of the program", ["version"], () => [
    { labels: { version }, value: 1 },
  ]);
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  gauge(
    registry,
    "process_start_time_seconds",
    "Time at which the server was started, in seconds since the epoch",
    () => startedAt,
  );
  gauge(registry, "process_resident_memory_bytes", "Resident memory of the server, without its worker", () =>
    process.memoryUsage.rss(),
  );
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of the server, without its worker and ffmpeg",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
  gauge(registry, "process_open_fds", "Open files and connections of the server (Linux)", openFiles);
  gauge(
    registry,
    "process_max_fds",
    "Maximum number of open files and connections of the server (Linux)",
    maxOpenFiles,
  );
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  gauge(
    registry,
    "transcribe_event_loop_delay_seconds",
    "Longest time during which the server could not respond, since the metrics were last read",
    () => {
      const longest = delay.max / 1e9;
      delay.reset();
      return longest;
    },
  );
}

function openFiles(): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}

function maxOpenFiles(): number | null {
  try {
    const number = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return number === undefined ? null : Number(number);
  } catch {
    return null;
  }
}
