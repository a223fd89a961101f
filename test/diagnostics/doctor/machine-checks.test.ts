import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../harness/checkout.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { thisMachine } from "../../../src/diagnostics/doctor/machine.ts";
import type { Status } from "../../../src/diagnostics/index.ts";
import type { Confinement } from "../../../src/media/index.ts";
import { DataPaths } from "../../../src/storage/index.ts";
import { contextOf, type FakeMachine, runCheck } from "./support.ts";

/** The machine, the check's result, and a pattern of the summary, the details and the advice together. */
type Case = readonly [
  name: string,
  machine: FakeMachine,
  status: Status,
  matches: RegExp,
  more?: { readonly flags?: Record<string, string>; readonly never?: RegExp },
];

const cpu = (flags: string) => ({ "/proc/cpuinfo": `processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: ${flags}\n` });
const pci = (vendor: string, driver: string | null, kind = "0x030000") => ({
  "/sys/bus/pci/devices/0000:01:00.0/class": `${kind}\n`,
  "/sys/bus/pci/devices/0000:01:00.0/vendor": `${vendor}\n`,
  "/sys/bus/pci/devices/0000:01:00.0/uevent":
    driver === null ? "PCI_CLASS=30000\n" : `DRIVER=${driver}\nPCI_CLASS=30000\n`,
});
const memory = (total: number, available: number, swap = 0, swapFree = 0) => ({
  "/proc/meminfo": `MemTotal:       ${total} kB\nMemAvailable:   ${available} kB\nSwapTotal:      ${swap} kB\nSwapFree:       ${swapFree} kB\n`,
});
const mount = (kind: string, options = "rw", mountPoint = "/") => ({
  "/proc/self/mountinfo": `20 1 8:1 / / rw - ext4 /dev/a rw\n30 20 0:30 / ${mountPoint} ${options} shared:1 - ${kind} source rw\n`,
});
const printed = (output: string, exitCode = 0) => ({ exitCode, output });
const unifiedGroup = (files: Record<string, string>, process: number | "self" = "self") => ({
  [`/proc/${process}/cgroup`]: "0::/system.slice/transcribe.service\n",
  "/proc/self/mountinfo": "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
  ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`/sys/fs/cgroup${name}`, text])),
});

const quota = (text: string) => unifiedGroup({ "/system.slice/transcribe.service/cpu.max": `${text}\n` });

const confine = join(root, "build/ffmpeg/confine");
const confinement = (inactive: Partial<Confinement>) =>
  JSON.stringify({ landlock: 7, seccomp: true, networkNamespace: true, threadLimit: true, ...inactive });

const cases: Readonly<Record<string, readonly Case[]>> = {
  "cpu.features": [
    ["a CPU with AMX", { files: cpu("sse2 sse4_2 avx2 avx512f amx_int8") }, "ok", /AMX, AVX-512, AVX2/],
    ["a CPU without AVX2", { files: cpu("sse2 sse4_2 avx") }, "warning", /no AVX2/],
    ["a very old CPU", { files: cpu("sse2") }, "problem", /too old/],
    [
      "an ARM CPU",
      { files: { "/proc/cpuinfo": "Features\t: fp asimd asimddp i8mm\n" } },
      "ok",
      /NEON/,
      { never: /AVX/ },
    ],
    ["no /proc", {}, "skipped", /no \/proc\/cpuinfo/],
  ],
  "cpu.threads": [
    ["a thread per processor", { processors: 8 }, "ok", /8 threads on 8 processors/],
    [
      "more threads than processors",
      { processors: 2 },
      "warning",
      /6 threads on 2 processors.*Set engine\.threads to 0/s,
      { flags: { "engine.threads": "6" } },
    ],
    [
      "a quota of cgroup 2",
      { processors: 8, files: quota("150000 100000") },
      "ok",
      /^2 threads on 1\.5 of 8 processors that the container or service may use/,
    ],
    [
      "a quota of cgroup 2 below the setting",
      { processors: 8, files: quota("150000 100000") },
      "warning",
      /8 threads, but.*only 1\.5 of 8.*engine\.threads to 0/s,
      { flags: { "engine.threads": "8" } },
    ],
    ["no quota", { files: quota("max 100000") }, "ok", /4 threads/],
  ],
  "engine.lanes": [
    ["four threads", {}, "ok", /one for each thread/],
    ["a GPU", { files: pci("0x10de", "nvidia") }, "skipped", /not measured yet/],
  ],
  "gpu.devices": [
    ["no GPU", {}, "ok", /none on the PCI bus/],
    ["a server's graphics chip", { files: pci("0x1a03", "ast") }, "ok", /none on the PCI bus/],
    ["a network card of Intel", { files: pci("0x8086", "igb", "0x020000") }, "ok", /none on the PCI bus/],
  ],
  "gpu.driver": [
    [
      "a GPU without a driver",
      { files: pci("0x10de", null) },
      "warning",
      /no driver is loaded for NVIDIA 0000:01:00\.0/,
    ],
    [
      "an NVIDIA GPU",
      { files: pci("0x10de", "nvidia"), programs: { "nvidia-smi": printed("NVIDIA H200, 570.1, 140000, 143771\n") } },
      "ok",
      /NVIDIA H200, driver 570\.1, 147 GB of 151 GB free/,
    ],
    [
      "an nvidia-smi that fails",
      {
        files: {
          ...pci("0x10de", "nvidia"),
          "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Tue\n",
        },
        programs: { "nvidia-smi": printed("Driver/library version mismatch\n", 18) },
      },
      "warning",
      /the kernel has driver 570\.86\.15.*mismatch/s,
    ],
    ["an AMD GPU", { files: pci("0x1002", "amdgpu") }, "ok", /AMD: amdgpu/],
  ],
  "gpu.access": [
    ["a GPU that was not passed to the container", { files: pci("0x10de", "nvidia") }, "warning", /--gpus all/],
    [
      "a GPU of another group",
      {
        files: { ...pci("0x1002", "amdgpu"), "/dev/dri/renderD128": "", "/dev/dri/card0": "" },
        closed: ["/dev/dri/renderD128", "/dev/dri/card0"],
      },
      "warning",
      /may not use \/dev\/dri\/renderD128/,
      { never: /card0/ },
    ],
    [
      "a GPU that may be used",
      { files: { ...pci("0x1002", "amdgpu"), "/dev/dri/renderD128": "" } },
      "ok",
      /renderD128/,
    ],
  ],
  "memory.size": [
    ["enough memory", { files: memory(16e6, 12e6) }, "ok", /15 GiB/],
    ["a small machine", { files: memory(500e3, 400e3) }, "problem", /too little: 488 MiB/],
    [
      "memory for one worker, but not for one on each of two GPUs",
      {
        files: {
          ...memory(1.5e6, 1.5e6),
          ...pci("0x10de", "nvidia"),
          ...Object.fromEntries(
            Object.entries(pci("0x10de", "nvidia")).map(([path, text]) => [path.replace("01:00", "02:00"), text]),
          ),
        },
      },
      "problem",
      /too little/,
    ],
    ["memory for one worker", { files: memory(1.5e6, 1.5e6) }, "ok", /1\.4 GiB/],
    ["memory used by other programs", { files: memory(16e6, 200e3) }, "warning", /are free now/],
    [
      "a container's limit",
      { files: { ...memory(16e6, 12e6), ...unifiedGroup({ "/system.slice/memory.max": "536870912\n" }) } },
      "problem",
      /too little: 512 MiB, but about .* are needed.*the container or service may use 512 MiB/s,
    ],
  ],
  "memory.swap": [
    ["a machine that swaps", { files: memory(8e6, 300e3, 4e6, 1e6) }, "warning", /swaps/],
    ["old pages in the swap", { files: memory(8e6, 4e6, 4e6, 1e6) }, "ok", /used/],
  ],
  "data.filesystem": [
    ["a network file system", { files: mount("nfs4") }, "problem", /network file system \(nfs4 at \/\)/],
    ["a file system in memory", { files: mount("tmpfs") }, "warning", /after a restart/],
    ["a container's own layer", { files: mount("overlay") }, "warning", /volume/],
    ["a read-only disk", { files: mount("xfs", "ro") }, "problem", /read-only/],
    ["a noexec disk", { files: mount("ext4", "rw,noexec") }, "warning", /runtime_dir/],
    ["a network mount elsewhere", { files: mount("nfs4", "rw", "/elsewhere") }, "ok", /ext4 at \//],
  ],
  "disk.space": [
    ["a full disk", { fileSystem: { bavail: 1e4 } }, "problem", /41 MB of .* free: less than the reserve of 1\.1 GB/],
    ["a disk that one long recording fills", { fileSystem: { bavail: 3e5 } }, "warning", /too little for the largest/],
    ["a large disk", { fileSystem: { bavail: 1e8 } }, "ok", /410 GB/],
  ],
  "disk.inodes": [
    ["a disk without a fixed number of files", { fileSystem: {} }, "skipped", /no fixed number/],
    ["a disk with too many files", { fileSystem: { files: 1e6, ffree: 12 } }, "problem", /12 more files/],
  ],
  "system.open_files": [
    [
      "a low limit of open files",
      { files: { "/proc/self/limits": "Max open files            1024                 1024                 files\n" } },
      "warning",
      /at most 1024/,
    ],
    [
      "a high hard limit",
      { files: { "/proc/self/limits": "Max open files            1024                 524288               files\n" } },
      "ok",
      /524288/,
    ],
  ],
  "system.clock": [
    ["a clock without a battery", { now: "1970-01-01T00:01:00Z" }, "problem", /1970.*can't be right/],
    ["an unsynchronized clock", { programs: { timedatectl: printed("no\n") } }, "warning", /drift/],
    ["a synchronized clock", { programs: { timedatectl: printed("yes\n") } }, "ok", /time server/],
    ["no timedatectl", {}, "ok", /unknown whether/],
  ],
  "system.user": [["root", { userId: 0 }, "warning", /root/]],
  "server.tls": [
    ["no TLS on a local address", {}, "skipped", /only for this machine/],
    ["no TLS on all addresses", {}, "skipped", /proxy/, { flags: { "server.host": "0.0.0.0" } }],
    [
      "a certificate without a key",
      {},
      "problem",
      /only one of server\.tls_certificate and server\.tls_key/,
      { flags: { "server.tls_certificate": "/c.pem" } },
    ],
    [
      "a missing certificate",
      {},
      "problem",
      /can't read \/c\.pem/,
      { flags: { "server.tls_certificate": "/c.pem", "server.tls_key": "/k.pem" } },
    ],
  ],
  "ffmpeg.confinement": [
    [
      "every part of the confinement",
      { programs: { [confine]: printed(confinement({})) } },
      "ok",
      /only its own files.*no sockets and no new processes.*at most 64 threads/s,
      { never: /not active/ },
    ],
    [
      "no user namespaces, as in a container",
      {
        programs: { [confine]: printed(confinement({ networkNamespace: false, threadLimit: false })) },
        files: { "/proc/sys/user/max_user_namespaces": "0\n" },
      },
      "ok",
      /not active: an empty network namespace; seccomp refuses sockets.*user\.max_user_namespaces is 0/s,
    ],
    [
      "a kernel without Landlock",
      {
        programs: { [confine]: printed(confinement({ landlock: 0 })) },
        files: { "/sys/kernel/security/lsm": "lockdown,yama,apparmor\n" },
      },
      "warning",
      /in part.*not active: only its own files.*every file that its user can.*lsm=/s,
    ],
    [
      "no seccomp",
      { programs: { [confine]: printed(confinement({ seccomp: false })) } },
      "warning",
      /not active: no sockets and no new processes/,
    ],
    [
      "a confining program that crashes",
      { programs: { [confine]: printed("Illegal instruction\n", 132) } },
      "problem",
      /no recording can be decoded.*Illegal instruction/s,
    ],
    ["no confining program", {}, "problem", /can't be started/],
  ],
};

describe("the check", () => {
  const rows = Object.entries(cases).flatMap(([check, ofCheck]) => ofCheck.map((each) => [check, ...each] as const));
  test.each(rows)("%s reports a machine with %s", async (check, _, machine, status, matches, more = {}) => {
    const { summary, detail = [], advice = "", ...found } = await runCheck(check, contextOf(machine, more));
    const text = [summary, ...detail, advice].join("\n");
    expect([found.status, text]).toEqual([status, expect.stringMatching(matches)]);
    if (more.never !== undefined) expect(text).not.toMatch(more.never);
    if (status === "warning" || status === "problem") expect(advice).toMatch(/\.$/);
  });
});

test("the limits and kills are those of the running server, not of this command", async () => {
  const files = {
    ...memory(16e6, 12e6),
    ...unifiedGroup(
      {
        "/system.slice/transcribe.service/memory.max": "4294967296\n",
        "/system.slice/transcribe.service/memory.events": "oom_kill 2\n",
        "/system.slice/transcribe.service/cpu.max": "100000 100000\n",
      },
      4711,
    ),
    "/proc/self/cgroup": "0::/user.slice\n",
    "/sys/fs/cgroup/user.slice/memory.max": "1048576\n",
  };
  const server = { origin: "http://127.0.0.1:8787", pid: 4711, version: "0", modelSetting: "", certificate: null };
  const context = contextOf({ files }, { server });
  const { status, summary, detail, advice } = await runCheck("memory.size", context);
  expect([status, summary]).toEqual(["warning", "the kernel has ended 2 processes of the server for lack of memory"]);
  expect(detail?.join()).toMatch(/may use 4\.0 GiB/);
  expect(advice).toMatch(/more memory.*engine\.lanes/);
  expect((await runCheck("cpu.threads", context)).summary).toMatch(/^1 thread on 1\.0 of 4/);
});

test.skipIf(process.getuid?.() !== 0)(
  "a volume of root that a pod's group may write is no server of root",
  async () => {
    using directory = temporaryDirectory();
    const statusOf = async (mode: number, userId: number) => {
      chmodSync(directory.path, mode);
      const context = contextOf({ userId }, { paths: new DataPaths(directory.path), data: "present" });
      return (await runCheck("system.user", context)).status;
    };
    expect(await statusOf(0o2770, 1000)).toBe("ok");
    expect(await statusOf(0o2770, 0)).toBe("warning");
    expect(await statusOf(0o700, 1000)).toBe("warning");
  },
);

const nvidia = pci("0x10de", "nvidia");
const loader = { "/usr/lib/x86_64-linux-gnu/libvulkan.so.1": "" };

test.each<[string, string[], Record<string, string>, FakeMachine, string, Status, RegExp]>([
  ["no backend", [], {}, { files: nvidia }, "gpu.devices", "warning", /1 NVIDIA GPU, but this build has no backend/],
  ["a backend", ["libggml-vulkan.so"], {}, { files: nvidia }, "gpu.devices", "ok", /1 NVIDIA GPU.*libggml-vulkan/s],
  ["no backend", [], {}, { files: nvidia }, "gpu.backends", "skipped", /this build has no GPU backend/],
  ["a backend and no GPU", ["libggml-vulkan.so"], {}, {}, "gpu.backends", "skipped", /there is no GPU/],
  [
    "a backend and no loader",
    ["libggml-vulkan.so"],
    {},
    { files: nvidia },
    "gpu.backends",
    "warning",
    /libvulkan\.so\.1 missing/,
  ],
  [
    "a backend and its loader",
    ["libggml-vulkan.so"],
    {},
    { files: { ...nvidia, ...loader } },
    "gpu.backends",
    "ok",
    /can be loaded/,
  ],
  [
    "a CUDA backend elsewhere and no driver",
    ["libggml-vulkan.so"],
    { "engine.cuda_library": "/opt/libggml-cuda.so" },
    { files: { ...nvidia, "/opt/libggml-cuda.so": "" } },
    "gpu.backends",
    "warning",
    /libcuda\.so\.1 and libvulkan\.so\.1 missing/,
  ],
  [
    "a missing CUDA backend in the settings, and no GPU",
    ["libggml-vulkan.so"],
    { "engine.cuda_library": "/opt/libggml-cuda.so" },
    { files: { "/opt/other.so": "" } },
    "gpu.backends",
    "warning",
    /engine\.cuda_library is \/opt\/libggml-cuda\.so, which does not exist/,
  ],
])(
  "for a build with %s, the GPU checks report the expected status: %#",
  async (_, libraries, flags, machine, check, status, matches) => {
    using directory = temporaryDirectory();
    for (const name of libraries) writeFileSync(join(directory.path, name), "");
    const context = contextOf(machine, { flags });
    if (context.files instanceof Error) throw context.files;
    const files = { ...context.files, nativeDirectory: directory.path };
    const { summary, detail = [], ...found } = await runCheck(check, { ...context, files });
    expect([found.status, [summary, ...detail].join("\n")]).toEqual([status, expect.stringMatching(matches)]);
  },
);

test("the real machine lets a user use what the user may read and write, and nothing else", () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "device"), "");
  const machine = thisMachine(new AbortController().signal, directory.path);
  expect(machine.mayUse("/device")).toBe(true);
  expect(machine.mayUse("/none")).toBe(false);
});
