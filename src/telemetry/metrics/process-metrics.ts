import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, type Registry } from "prom-client";
import { askedGauge, labelledGauge } from "./declare.ts";

/** Registers metrics of the server process, named as in Prometheus's client libraries, and the program's version. */
export function registerProcessMetrics(registry: Registry, version: string): void {
  labelledGauge(
    registry,
    { name: "transcribe_build_info", help: "1, by version of the program", labelNames: ["version"] },
    () => [{ labels: { version }, value: 1 }],
  );
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  askedGauge(
    registry,
    { name: "process_start_time_seconds", help: "When the server was started, in seconds since the epoch" },
    () => startedAt,
  );
  askedGauge(
    registry,
    { name: "process_resident_memory_bytes", help: "Resident memory of the server, without its worker" },
    () => process.memoryUsage.rss(),
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
  askedGauge(
    registry,
    { name: "process_open_fds", help: "Open files and connections of the server (Linux)" },
    openFiles,
  );
  askedGauge(
    registry,
    { name: "process_max_fds", help: "How many files and connections the server may have open (Linux)" },
    mostOpenFiles,
  );
  const delay = monitorEventLoopDelay({ resolution: 100 });
  delay.enable();
  askedGauge(
    registry,
    {
      name: "transcribe_event_loop_delay_seconds",
      help: "Longest time that the server was too busy to answer, since these figures were read last",
    },
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

function mostOpenFiles(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
