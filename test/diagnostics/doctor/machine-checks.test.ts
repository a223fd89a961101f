import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Status } from "../../../src/diagnostics/index.ts";
import type { Confinement } from "../../../src/media/index.ts";
import { root } from "../../support/checkout.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf, type FakeMachine, look } from "./support.ts";

interface Case {
  readonly name: string;
  readonly check: string;
  readonly machine: FakeMachine;
  readonly flags?: Record<string, string>;
  readonly status: Status;
  /** Pattern of the summary, the details or the advice. */
  readonly matches: RegExp;
  readonly never?: RegExp;
}

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
const unifiedGroup = (files: Record<string, string>) => ({
  "/proc/self/cgroup": "0::/system.slice/transcribe.service\n",
  ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`/sys/fs/cgroup${name}`, text])),
});

const confine = join(root, "build/ffmpeg/confine");
const confinement = (inactive: Partial<Confinement>) =>
  JSON.stringify({ landlock: 7, seccomp: true, networkNamespace: true, threadLimit: true, ...inactive });

const cases: readonly Case[] = [
  {
    name: "a CPU with AMX",
    check: "cpu.features",
    machine: { files: cpu("sse2 sse4_2 avx2 avx512f amx_int8") },
    status: "ok",
    matches: /AMX, AVX-512, AVX2/,
  },
  {
    name: "a CPU without AVX2",
    check: "cpu.features",
    machine: { files: cpu("sse2 sse4_2 avx") },
    status: "warning",
    matches: /no AVX2/,
  },
  {
    name: "a very old CPU",
    check: "cpu.features",
    machine: { files: cpu("sse2") },
    status: "problem",
    matches: /too old/,
  },
  {
    name: "an ARM CPU",
    check: "cpu.features",
    machine: { files: { "/proc/cpuinfo": "Features\t: fp asimd asimddp i8mm\n" } },
    status: "ok",
    matches: /NEON/,
    never: /AVX/,
  },
  { name: "no /proc", check: "cpu.features", machine: {}, status: "skipped", matches: /no \/proc\/cpuinfo/ },

  {
    name: "a thread per processor",
    check: "cpu.threads",
    machine: { processors: 8 },
    status: "ok",
    matches: /8 threads on 8 processors/,
  },
  {
    name: "more threads than processors",
    check: "cpu.threads",
    machine: { processors: 2 },
    flags: { "engine.threads": "6" },
    status: "warning",
    matches: /6 threads on 2 processors.*Set engine\.threads to 2/s,
  },
  {
    name: "a quota of cgroup 2",
    check: "cpu.threads",
    machine: { processors: 8, files: unifiedGroup({ "/system.slice/transcribe.service/cpu.max": "150000 100000\n" }) },
    status: "warning",
    matches: /only 1\.5 of 8.*engine\.threads to 1,/s,
  },
  {
    name: "a quota of a parent group",
    check: "cpu.threads",
    machine: {
      processors: 8,
      files: unifiedGroup({
        "/system.slice/transcribe.service/cpu.max": "max 100000\n",
        "/system.slice/cpu.max": "200000 100000\n",
      }),
    },
    status: "warning",
    matches: /only 2\.0 of 8/,
  },
  {
    name: "a quota of cgroup 1",
    check: "cpu.threads",
    machine: {
      processors: 4,
      files: {
        "/proc/self/cgroup": "3:cpu,cpuacct:/docker/x\n",
        "/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us": "50000\n",
        "/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000\n",
      },
    },
    status: "warning",
    matches: /only 0\.5 of 4.*engine\.threads to 1,/s,
  },
  {
    name: "no quota",
    check: "cpu.threads",
    machine: { files: unifiedGroup({ "/system.slice/transcribe.service/cpu.max": "max 100000\n" }) },
    status: "ok",
    matches: /4 threads/,
  },

  { name: "no GPU", check: "gpu.devices", machine: {}, status: "ok", matches: /none on the PCI bus/ },
  {
    name: "a server's graphics chip",
    check: "gpu.devices",
    machine: { files: pci("0x1a03", "ast") },
    status: "ok",
    matches: /none on the PCI bus/,
  },
  {
    name: "a network card of Intel",
    check: "gpu.devices",
    machine: { files: pci("0x8086", "igb", "0x020000") },
    status: "ok",
    matches: /none on the PCI bus/,
  },
  {
    name: "a GPU without a driver",
    check: "gpu.driver",
    machine: { files: pci("0x10de", null) },
    status: "warning",
    matches: /no driver is loaded for NVIDIA 0000:01:00\.0/,
  },
  {
    name: "an NVIDIA GPU",
    check: "gpu.driver",
    machine: {
      files: pci("0x10de", "nvidia"),
      programs: { "nvidia-smi": printed("NVIDIA H200, 570.1, 140000, 143771\n") },
    },
    status: "ok",
    matches: /NVIDIA H200, driver 570\.1, 147 GB of 151 GB free/,
  },
  {
    name: "an nvidia-smi that fails",
    check: "gpu.driver",
    machine: {
      files: {
        ...pci("0x10de", "nvidia"),
        "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Tue\n",
      },
      programs: { "nvidia-smi": printed("Driver/library version mismatch\n", 18) },
    },
    status: "warning",
    matches: /the kernel has driver 570\.86\.15.*mismatch/s,
  },
  {
    name: "an AMD GPU",
    check: "gpu.driver",
    machine: { files: pci("0x1002", "amdgpu") },
    status: "ok",
    matches: /AMD: amdgpu/,
  },
  {
    name: "a GPU that was not passed to the container",
    check: "gpu.access",
    machine: { files: pci("0x10de", "nvidia") },
    status: "warning",
    matches: /--gpus all/,
  },
  {
    name: "a GPU of another group",
    check: "gpu.access",
    machine: {
      files: { ...pci("0x1002", "amdgpu"), "/dev/dri/renderD128": "", "/dev/dri/card0": "" },
      closed: ["/dev/dri/renderD128", "/dev/dri/card0"],
    },
    status: "warning",
    matches: /may not use \/dev\/dri\/renderD128/,
    never: /card0/,
  },
  {
    name: "a GPU that may be used",
    check: "gpu.access",
    machine: { files: { ...pci("0x1002", "amdgpu"), "/dev/dri/renderD128": "" } },
    status: "ok",
    matches: /renderD128/,
  },

  {
    name: "enough memory",
    check: "memory.size",
    machine: { files: memory(16e6, 12e6) },
    status: "ok",
    matches: /16 GB/,
  },
  {
    name: "a small machine",
    check: "memory.size",
    machine: { files: memory(500e3, 400e3) },
    status: "problem",
    matches: /too little: 512 MB/,
  },
  {
    name: "memory for one worker, but not for one on each of two GPUs",
    check: "memory.size",
    machine: {
      files: {
        ...memory(1.5e6, 1.5e6),
        ...pci("0x10de", "nvidia"),
        ...Object.fromEntries(
          Object.entries(pci("0x10de", "nvidia")).map(([path, text]) => [path.replace("01:00", "02:00"), text]),
        ),
      },
    },
    status: "problem",
    matches: /too little/,
  },
  {
    name: "memory for one worker",
    check: "memory.size",
    machine: { files: memory(1.5e6, 1.5e6) },
    status: "ok",
    matches: /1\.5 GB/,
  },
  {
    name: "memory used by other programs",
    check: "memory.size",
    machine: { files: memory(16e6, 200e3) },
    status: "warning",
    matches: /are free now/,
  },
  {
    name: "a container's limit",
    check: "memory.size",
    machine: { files: { ...memory(16e6, 12e6), ...unifiedGroup({ "/system.slice/memory.max": "536870912\n" }) } },
    status: "problem",
    matches: /too little: 537 MB/,
  },
  {
    name: "cgroup 1 without a limit",
    check: "memory.size",
    machine: {
      files: {
        ...memory(16e6, 12e6),
        "/proc/self/cgroup": "4:memory:/x\n",
        "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n",
      },
    },
    status: "ok",
    matches: /16 GB/,
  },
  {
    name: "a machine that swaps",
    check: "memory.swap",
    machine: { files: memory(8e6, 300e3, 4e6, 1e6) },
    status: "warning",
    matches: /swaps/,
  },
  {
    name: "old pages in the swap",
    check: "memory.swap",
    machine: { files: memory(8e6, 4e6, 4e6, 1e6) },
    status: "ok",
    matches: /used/,
  },

  {
    name: "a network file system",
    check: "data.filesystem",
    machine: { files: mount("nfs4") },
    status: "problem",
    matches: /network file system \(nfs4 at \/\)/,
  },
  {
    name: "a file system in memory",
    check: "data.filesystem",
    machine: { files: mount("tmpfs") },
    status: "warning",
    matches: /after a restart/,
  },
  {
    name: "a container's own layer",
    check: "data.filesystem",
    machine: { files: mount("overlay") },
    status: "warning",
    matches: /volume/,
  },
  {
    name: "a read-only disk",
    check: "data.filesystem",
    machine: { files: mount("xfs", "ro") },
    status: "problem",
    matches: /read-only/,
  },
  {
    name: "a noexec disk",
    check: "data.filesystem",
    machine: { files: mount("ext4", "rw,noexec") },
    status: "warning",
    matches: /runtime_dir/,
  },
  {
    name: "a network mount elsewhere",
    check: "data.filesystem",
    machine: { files: mount("nfs4", "rw", "/elsewhere") },
    status: "ok",
    matches: /ext4 at \//,
  },

  {
    name: "a full disk",
    check: "disk.space",
    machine: { fileSystem: { bavail: 1e4 } },
    status: "problem",
    matches: /41 MB of .* free: less than the reserve of 1\.1 GB/,
  },
  {
    name: "a disk that one long recording fills",
    check: "disk.space",
    machine: { fileSystem: { bavail: 3e5 } },
    status: "warning",
    matches: /too little for the largest/,
  },
  {
    name: "a large disk",
    check: "disk.space",
    machine: { fileSystem: { bavail: 1e8 } },
    status: "ok",
    matches: /410 GB/,
  },
  {
    name: "a disk without a fixed number of files",
    check: "disk.inodes",
    machine: { fileSystem: {} },
    status: "skipped",
    matches: /no fixed number/,
  },
  {
    name: "a disk with too many files",
    check: "disk.inodes",
    machine: { fileSystem: { files: 1e6, ffree: 12 } },
    status: "problem",
    matches: /12 more files/,
  },

  {
    name: "a low limit of open files",
    check: "system.open_files",
    machine: {
      files: { "/proc/self/limits": "Max open files            1024                 1024                 files\n" },
    },
    status: "warning",
    matches: /at most 1024/,
  },
  {
    name: "a high hard limit",
    check: "system.open_files",
    machine: {
      files: { "/proc/self/limits": "Max open files            1024                 524288               files\n" },
    },
    status: "ok",
    matches: /524288/,
  },
  {
    name: "a clock without a battery",
    check: "system.clock",
    machine: { now: "1970-01-01T00:01:00Z" },
    status: "problem",
    matches: /1970.*can't be right/,
  },
  {
    name: "an unsynchronized clock",
    check: "system.clock",
    machine: { programs: { timedatectl: printed("no\n") } },
    status: "warning",
    matches: /drift/,
  },
  {
    name: "a synchronized clock",
    check: "system.clock",
    machine: { programs: { timedatectl: printed("yes\n") } },
    status: "ok",
    matches: /time server/,
  },
  { name: "no timedatectl", check: "system.clock", machine: {}, status: "ok", matches: /unknown whether/ },
  { name: "root", check: "system.user", machine: { userId: 0 }, status: "warning", matches: /root/ },

  {
    name: "no TLS on a local address",
    check: "server.tls",
    machine: {},
    status: "skipped",
    matches: /only for this machine/,
  },
  {
    name: "no TLS on all addresses",
    check: "server.tls",
    machine: {},
    flags: { "server.host": "0.0.0.0" },
    status: "skipped",
    matches: /proxy/,
  },
  {
    name: "a certificate without a key",
    check: "server.tls",
    machine: {},
    flags: { "server.tls_certificate": "/c.pem" },
    status: "problem",
    matches: /only one of server\.tls_certificate and server\.tls_key/,
  },
  {
    name: "a missing certificate",
    check: "server.tls",
    machine: {},
    flags: { "server.tls_certificate": "/c.pem", "server.tls_key": "/k.pem" },
    status: "problem",
    matches: /can't read \/c\.pem/,
  },
  {
    name: "every part of the confinement",
    check: "ffmpeg.confinement",
    machine: { programs: { [confine]: printed(confinement({})) } },
    status: "ok",
    matches: /only its own files.*no sockets and no new processes.*at most 64 threads/s,
    never: /not active/,
  },
  {
    name: "no user namespaces, as in a container",
    check: "ffmpeg.confinement",
    machine: {
      programs: { [confine]: printed(confinement({ networkNamespace: false, threadLimit: false })) },
      files: { "/proc/sys/user/max_user_namespaces": "0\n" },
    },
    status: "ok",
    matches: /not active: an empty network namespace; seccomp refuses sockets.*user\.max_user_namespaces is 0/s,
  },
  {
    name: "a kernel without Landlock",
    check: "ffmpeg.confinement",
    machine: {
      programs: { [confine]: printed(confinement({ landlock: 0 })) },
      files: { "/sys/kernel/security/lsm": "lockdown,yama,apparmor\n" },
    },
    status: "warning",
    matches: /in part.*not active: only its own files.*every file that its user can.*lsm=/s,
  },
  {
    name: "no seccomp",
    check: "ffmpeg.confinement",
    machine: { programs: { [confine]: printed(confinement({ seccomp: false })) } },
    status: "warning",
    matches: /not active: no sockets and no new processes/,
  },
  {
    name: "a confining program that crashes",
    check: "ffmpeg.confinement",
    machine: { programs: { [confine]: printed("Illegal instruction\n", 132) } },
    status: "problem",
    matches: /no recording can be decoded.*Illegal instruction/s,
  },
  {
    name: "no confining program",
    check: "ffmpeg.confinement",
    machine: {},
    status: "problem",
    matches: /can't be started/,
  },
];

describe("for a machine with", () => {
  for (const { name, check, machine, flags = {}, status, matches, never } of cases) {
    test(`${name}, ${check} reports ${status}`, async () => {
      const { summary, detail = [], advice = "", ...found } = await look(check, contextOf(machine, { flags }));
      const text = [summary, ...detail, advice].join("\n");
      expect([found.status, text]).toEqual([status, expect.stringMatching(matches)]);
      if (never !== undefined) expect(text).not.toMatch(never);
      if (status === "warning" || status === "problem") expect(advice).toMatch(/\.$/);
    });
  }
});

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
    const { summary, detail = [], ...found } = await look(check, { ...context, files });
    expect([found.status, [summary, ...detail].join("\n")]).toEqual([status, expect.stringMatching(matches)]);
  },
);
