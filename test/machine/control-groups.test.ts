import { describe, expect, test } from "bun:test";
import { cpuQuota, memoryKills, memoryOf, usableProcessors } from "../../src/machine/index.ts";

type Files = Readonly<Record<string, string>>;

const mounts = {
  version2: "30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
  memory1: "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
  cpu1: "32 20 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
};
const GB16 = { "/proc/meminfo": "MemTotal:       16000000 kB\nMemAvailable:   12000000 kB\n" };

/** Returns a machine of 16 GB with these mounts, memberships of a process, and files below /sys/fs/cgroup. */
function machine(lines: readonly string[], memberships: string, files: Files, process: number | "self" = "self") {
  const below = Object.entries(files).map(([name, text]) => [`/sys/fs/cgroup${name}`, `${text}\n`]);
  const all: Files = {
    ...GB16,
    "/proc/self/mountinfo": `20 1 8:1 / / rw - ext4 /dev/a rw\n${lines.join("\n")}\n`,
    [`/proc/${process}/cgroup`]: `${memberships}\n`,
    ...Object.fromEntries(below),
  };
  return { read: (path: string) => all[path] ?? null, process };
}

const service = "0::/system.slice/transcribe.service";
const unified = (files: Files, memberships = service) => machine([mounts.version2], memberships, files);
const split = (files: Files, memberships = "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x") =>
  machine([mounts.memory1, mounts.cpu1], memberships, files);
/** Version 1 as a container without a namespace of control groups sees it. */
const inContainer = (files: Files) =>
  machine(
    [
      "31 20 0:27 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
      "32 20 0:28 /docker/x /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct",
    ],
    "4:memory:/docker/x/part\n3:cpu,cpuacct:/docker/x/part",
    files,
  );

const MiB = 1024 ** 2;

test.each<[string, ReturnType<typeof machine>, number | null]>([
  ["the service's own", unified({ "/system.slice/transcribe.service/memory.max": `${400 * MiB}` }), 400],
  [
    "a slice's",
    unified({ "/system.slice/transcribe.service/memory.max": "max", "/system.slice/memory.max": `${MiB}` }),
    1,
  ],
  [
    "the strictest of several",
    unified({
      "/system.slice/transcribe.service/memory.max": `${900 * MiB}`,
      "/system.slice/memory.max": `${800 * MiB}`,
      "/memory.max": `${850 * MiB}`,
    }),
    800,
  ],
  ["none of a sibling", unified({ "/system.slice/other.service/memory.max": `${MiB}` }), null],
  ["a container's with a namespace", unified({ "/memory.max": `${512 * MiB}` }, "0::/"), 512],
  ["version 1", split({ "/memory/docker/x/memory.limit_in_bytes": `${512 * MiB}` }), 512],
  ["version 1 without a limit", split({ "/memory/docker/x/memory.limit_in_bytes": "9223372036854771712" }), null],
  ["the mounted part of version 1", inContainer({ "/memory/memory.limit_in_bytes": `${512 * MiB}` }), 512],
  ["a group below the mounted part", inContainer({ "/memory/part/memory.limit_in_bytes": `${64 * MiB}` }), 64],
  [
    "both versions",
    machine(
      [mounts.memory1, mounts.version2.replace("/sys/fs/cgroup", "/sys/fs/cgroup/unified")],
      `4:memory:/x\n${service}`,
      {
        "/memory/x/memory.limit_in_bytes": `${300 * MiB}`,
      },
    ),
    300,
  ],
  ["another process's", machine([mounts.version2], service, { "/system.slice/memory.max": `${MiB}` }, 4711), 1],
  ["a path with a colon and a blank", unified({ "/a b:c/memory.max": `${MiB}` }, "0::/a b:c"), 1],
  ["more than the machine has", unified({ "/system.slice/memory.max": `${64 * 1024 * MiB}` }), null],
  ["no control groups", { read: (path) => (GB16 as Files)[path] ?? null, process: "self" }, null],
  ["no mount", machine([], service, { "/system.slice/memory.max": `${MiB}` }), null],
])("the memory limit: %s", (_, groups, mebibytes) => {
  const limitBytes = mebibytes === null ? null : mebibytes * MiB;
  expect(memoryOf(groups)).toMatchObject({ limitBytes, totalBytes: limitBytes ?? 16_000_000 * 1024 });
});

describe("the available memory", () => {
  test.each<[string, ReturnType<typeof machine>, number]>([
    ["is that of a machine without a limit", unified({}), 12_000_000 * 1024],
    [
      "is what the limit leaves, with cached files",
      unified({
        "/system.slice/memory.max": `${400 * MiB}`,
        "/system.slice/memory.current": `${300 * MiB}`,
        "/system.slice/memory.stat": `anon 1\ninactive_file ${50 * MiB}\nactive_file ${20 * MiB}`,
      }),
      150 * MiB,
    ],
    [
      "is what the limit of version 1 leaves, with cached files of child groups",
      split({
        "/memory/docker/x/memory.limit_in_bytes": `${400 * MiB}`,
        "/memory/docker/x/memory.usage_in_bytes": `${390 * MiB}`,
        "/memory/docker/x/memory.stat": `inactive_file ${MiB}\ntotal_inactive_file ${30 * MiB}`,
      }),
      40 * MiB,
    ],
    [
      "is never negative",
      unified({ "/system.slice/memory.max": `${MiB}`, "/system.slice/memory.current": `${9 * MiB}` }),
      0,
    ],
    ["is at most the limit if the use is not known", unified({ "/system.slice/memory.max": `${MiB}` }), MiB],
  ])("%s", (_, groups, bytes) => {
    expect(memoryOf(groups).availableBytes).toBe(bytes);
  });
});

test.each<[string, ReturnType<typeof machine>, number]>([
  [
    "version 2",
    unified({ "/system.slice/transcribe.service/memory.events": "low 0\noom 9\noom_kill 3\noom_group_kill 0" }),
    3,
  ],
  [
    "the service's own, not those of its neighbours",
    unified({
      "/system.slice/transcribe.service/memory.events": "oom_kill 0",
      "/system.slice/memory.events": "oom_kill 7",
    }),
    0,
  ],
  ["a parent's if the group has no memory controller", unified({ "/system.slice/memory.events": "oom_kill 7" }), 7],
  ["version 1", split({ "/memory/docker/x/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2" }), 2],
  ["an old kernel without the counter", split({ "/memory/docker/x/memory.oom_control": "oom_kill_disable 0" }), 0],
  ["no control groups", machine([], "", {}), 0],
])("the kernel's kills: %s", (_, groups, kills) => {
  expect(memoryKills(groups)).toBe(kills);
});

test.each<[string, ReturnType<typeof machine>, quota: number | null, of64: number]>([
  ["two CPUs", unified({ "/system.slice/transcribe.service/cpu.max": "200000 100000" }), 2, 2],
  ["a CPU and a half", unified({ "/system.slice/transcribe.service/cpu.max": "150000 100000" }), 1.5, 2],
  ["a tenth", unified({ "/system.slice/transcribe.service/cpu.max": "10000 100000" }), 0.1, 1],
  ["no quota", unified({ "/system.slice/transcribe.service/cpu.max": "max 100000" }), null, 64],
  [
    "a slice's",
    unified({ "/system.slice/transcribe.service/cpu.max": "max 100000", "/system.slice/cpu.max": "300000 100000" }),
    3,
    3,
  ],
  ["more than there are", unified({ "/system.slice/cpu.max": "9000000 100000" }), 90, 64],
  [
    "version 1",
    split({
      "/cpu,cpuacct/docker/x/cpu.cfs_quota_us": "250000",
      "/cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000",
    }),
    2.5,
    3,
  ],
  [
    "version 1 without a quota",
    split({ "/cpu,cpuacct/docker/x/cpu.cfs_quota_us": "-1", "/cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000" }),
    null,
    64,
  ],
])("the threads: %s", (_, groups, quota, of64) => {
  expect([cpuQuota(groups), usableProcessors(groups, 64)]).toEqual([quota, of64]);
});

test.each<[string, string, Files]>([
  ["empty files", service, { "/memory.max": "", "/cpu.max": "", "/memory.events": "" }],
  ["words", service, { "/memory.max": "much", "/cpu.max": "all of them", "/memory.events": "oom_kill many" }],
  ["negative numbers", service, { "/memory.max": "-5", "/cpu.max": "-1 -1", "/memory.events": "oom_kill -1" }],
  ["zero", service, { "/memory.max": "0", "/cpu.max": "0 0", "/memory.events": "oom_kill 0" }],
  ["a period of zero", service, { "/cpu.max": "100000 0" }],
  ["endless numbers", service, { "/memory.max": "9".repeat(400), "/cpu.max": `${"9".repeat(400)} 1` }],
  ["other notations", service, { "/memory.max": "1e3", "/cpu.max": "0x10 1", "/memory.events": "oom_kill 1e9" }],
  ["no quota's period", service, { "/cpu.max": "100000" }],
  ["NUL characters", service, { "/memory.max": "\0".repeat(9), "/cpu.max": "\0 \0" }],
  ["a path above the root", "0::/../../etc", { "/../../etc/memory.max": "4096", "/etc/memory.max": "4096" }],
  ["no path", "0::", { "/memory.max": "nothing" }],
  ["another format", "what is this", { "/memory.max": "4096", "/cpu.max": "1 1", "/memory.events": "oom_kill 5" }],
])("files with %s limit nothing", (_, memberships, files) => {
  const groups = unified(files, memberships);
  expect([memoryOf(groups).limitBytes, cpuQuota(groups), memoryKills(groups)]).toEqual([null, null, 0]);
  expect(usableProcessors(groups, 64)).toBe(64);
});
