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
  /** What the summary, the details or the advice must say. */
  readonly says: RegExp;
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
const said = (output: string, exitCode = 0) => ({ exitCode, output });
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
    says: /AMX, AVX-512, AVX2/,
  },
  {
    name: "a CPU without AVX2",
    check: "cpu.features",
    machine: { files: cpu("sse2 sse4_2 avx") },
    status: "warning",
    says: /no AVX2/,
  },
  {
    name: "a CPU of long ago",
    check: "cpu.features",
    machine: { files: cpu("sse2") },
    status: "problem",
    says: /too old/,
  },
  {
    name: "an ARM CPU",
    check: "cpu.features",
    machine: { files: { "/proc/cpuinfo": "Features\t: fp asimd asimddp i8mm\n" } },
    status: "ok",
    says: /NEON/,
    never: /AVX/,
  },
  { name: "no /proc", check: "cpu.features", machine: {}, status: "skipped", says: /no \/proc\/cpuinfo/ },

  {
    name: "a thread per processor",
    check: "cpu.threads",
    machine: { processors: 8 },
    status: "ok",
    says: /8 threads on 8 processors/,
  },
  {
    name: "more threads than processors",
    check: "cpu.threads",
    machine: { processors: 2 },
    flags: { "engine.threads": "6" },
    status: "warning",
    says: /6 threads on 2 processors.*Set engine\.threads to 2/s,
  },
  {
    name: "a quota of cgroup 2",
    check: "cpu.threads",
    machine: { processors: 8, files: unifiedGroup({ "/system.slice/transcribe.service/cpu.max": "150000 100000\n" }) },
    status: "warning",
    says: /only 1\.5 of 8.*engine\.threads to 1,/s,
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
    says: /only 2\.0 of 8/,
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
    says: /only 0\.5 of 4.*engine\.threads to 1,/s,
  },
  {
    name: "no quota",
    check: "cpu.threads",
    machine: { files: unifiedGroup({ "/system.slice/transcribe.service/cpu.max": "max 100000\n" }) },
    status: "ok",
    says: /4 threads/,
  },

  { name: "no GPU", check: "gpu.devices", machine: {}, status: "ok", says: /none on the PCI bus/ },
  {
    name: "a server's graphics chip",
    check: "gpu.devices",
    machine: { files: pci("0x1a03", "ast") },
    status: "ok",
    says: /none on the PCI bus/,
  },
  {
    name: "a network card of Intel",
    check: "gpu.devices",
    machine: { files: pci("0x8086", "igb", "0x020000") },
    status: "ok",
    says: /none on the PCI bus/,
  },
  {
    name: "a GPU without a driver",
    check: "gpu.driver",
    machine: { files: pci("0x10de", null) },
    status: "warning",
    says: /no driver is loaded for NVIDIA 0000:01:00\.0/,
  },
  {
    name: "an NVIDIA GPU",
    check: "gpu.driver",
    machine: {
      files: pci("0x10de", "nvidia"),
      programs: { "nvidia-smi": said("NVIDIA H200, 570.1, 140000, 143771\n") },
    },
    status: "ok",
    says: /NVIDIA H200, driver 570\.1, 147 GB of 151 GB free/,
  },
  {
    name: "an nvidia-smi that fails",
    check: "gpu.driver",
    machine: {
      files: {
        ...pci("0x10de", "nvidia"),
        "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Tue\n",
      },
      programs: { "nvidia-smi": said("Driver/library version mismatch\n", 18) },
    },
    status: "warning",
    says: /the kernel has driver 570\.86\.15.*mismatch/s,
  },
  {
    name: "an AMD GPU",
    check: "gpu.driver",
    machine: { files: pci("0x1002", "amdgpu") },
    status: "ok",
    says: /AMD: amdgpu/,
  },
  {
    name: "a GPU that was not handed in",
    check: "gpu.access",
    machine: { files: pci("0x10de", "nvidia") },
    status: "warning",
    says: /--gpus all/,
  },
  {
    name: "a GPU of another group",
    check: "gpu.access",
    machine: {
      files: { ...pci("0x1002", "amdgpu"), "/dev/dri/renderD128": "", "/dev/dri/card0": "" },
      closed: ["/dev/dri/renderD128", "/dev/dri/card0"],
    },
    status: "warning",
    says: /may not use \/dev\/dri\/renderD128/,
    never: /card0/,
  },
  {
    name: "a GPU that may be used",
    check: "gpu.access",
    machine: { files: { ...pci("0x1002", "amdgpu"), "/dev/dri/renderD128": "" } },
    status: "ok",
    says: /renderD128/,
  },

  { name: "memory enough", check: "memory.size", machine: { files: memory(16e6, 12e6) }, status: "ok", says: /16 GB/ },
  {
    name: "a small machine",
    check: "memory.size",
    machine: { files: memory(500e3, 400e3) },
    status: "problem",
    says: /too little: 512 MB/,
  },
  {
    name: "memory that is enough for one worker, and not for one on each of two GPUs",
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
    says: /too little/,
  },
  {
    name: "memory that is enough for one worker",
    check: "memory.size",
    machine: { files: memory(1.5e6, 1.5e6) },
    status: "ok",
    says: /1\.5 GB/,
  },
  {
    name: "memory that others hold",
    check: "memory.size",
    machine: { files: memory(16e6, 200e3) },
    status: "warning",
    says: /are free now/,
  },
  {
    name: "a container's limit",
    check: "memory.size",
    machine: { files: { ...memory(16e6, 12e6), ...unifiedGroup({ "/system.slice/memory.max": "536870912\n" }) } },
    status: "problem",
    says: /too little: 537 MB/,
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
    says: /16 GB/,
  },
  {
    name: "a machine that swaps",
    check: "memory.swap",
    machine: { files: memory(8e6, 300e3, 4e6, 1e6) },
    status: "warning",
    says: /swaps/,
  },
  {
    name: "old pages in the swap",
    check: "memory.swap",
    machine: { files: memory(8e6, 4e6, 4e6, 1e6) },
    status: "ok",
    says: /used/,
  },

  {
    name: "a network file system",
    check: "data.filesystem",
    machine: { files: mount("nfs4") },
    status: "problem",
    says: /network file system \(nfs4 at \/\)/,
  },
  {
    name: "a file system in memory",
    check: "data.filesystem",
    machine: { files: mount("tmpfs") },
    status: "warning",
    says: /after a restart/,
  },
  {
    name: "a container's own layer",
    check: "data.filesystem",
    machine: { files: mount("overlay") },
    status: "warning",
    says: /volume/,
  },
  {
    name: "a read-only disk",
    check: "data.filesystem",
    machine: { files: mount("xfs", "ro") },
    status: "problem",
    says: /can't be written to/,
  },
  {
    name: "a noexec disk",
    check: "data.filesystem",
    machine: { files: mount("ext4", "rw,noexec") },
    status: "warning",
    says: /runtime_dir/,
  },
  {
    name: "a mount beside it",
    check: "data.filesystem",
    machine: { files: mount("nfs4", "rw", "/elsewhere") },
    status: "ok",
    says: /ext4 at \//,
  },

  {
    name: "a full disk",
    check: "disk.space",
    machine: { room: { bavail: 1e4 } },
    status: "problem",
    says: /41 MB of .* free: less than the reserve of 1\.1 GB/,
  },
  {
    name: "a disk that one long recording fills",
    check: "disk.space",
    machine: { room: { bavail: 3e5 } },
    status: "warning",
    says: /too little for the largest/,
  },
  { name: "a roomy disk", check: "disk.space", machine: { room: { bavail: 1e8 } }, status: "ok", says: /410 GB/ },
  {
    name: "a disk without numbered files",
    check: "disk.inodes",
    machine: { room: {} },
    status: "skipped",
    says: /no fixed number/,
  },
  {
    name: "a disk of too many files",
    check: "disk.inodes",
    machine: { room: { files: 1e6, ffree: 12 } },
    status: "problem",
    says: /12 more files/,
  },

  {
    name: "few open files",
    check: "system.open_files",
    machine: {
      files: { "/proc/self/limits": "Max open files            1024                 1024                 files\n" },
    },
    status: "warning",
    says: /at most 1024/,
  },
  {
    name: "a high hard limit",
    check: "system.open_files",
    machine: {
      files: { "/proc/self/limits": "Max open files            1024                 524288               files\n" },
    },
    status: "ok",
    says: /524288/,
  },
  {
    name: "a clock without a battery",
    check: "system.clock",
    machine: { now: "1970-01-01T00:01:00Z" },
    status: "problem",
    says: /1970.*can't be/,
  },
  {
    name: "a clock that nothing sets",
    check: "system.clock",
    machine: { programs: { timedatectl: said("no\n") } },
    status: "warning",
    says: /drift/,
  },
  {
    name: "a clock that is set",
    check: "system.clock",
    machine: { programs: { timedatectl: said("yes\n") } },
    status: "ok",
    says: /time server/,
  },
  { name: "no timedatectl", check: "system.clock", machine: {}, status: "ok", says: /not known/ },
  { name: "root", check: "system.user", machine: { userId: 0 }, status: "warning", says: /root/ },

  { name: "no TLS, here only", check: "server.tls", machine: {}, status: "skipped", says: /this machine alone/ },
  {
    name: "no TLS, for all",
    check: "server.tls",
    machine: {},
    flags: { "server.host": "0.0.0.0" },
    status: "skipped",
    says: /proxy/,
  },
  {
    name: "a certificate without a key",
    check: "server.tls",
    machine: {},
    flags: { "server.tls_certificate": "/c.pem" },
    status: "problem",
    says: /go together/,
  },
  {
    name: "a certificate that is not there",
    check: "server.tls",
    machine: {},
    flags: { "server.tls_certificate": "/c.pem", "server.tls_key": "/k.pem" },
    status: "problem",
    says: /can't read \/c\.pem/,
  },
  {
    name: "all that confines ffmpeg",
    check: "ffmpeg.confinement",
    machine: { programs: { [confine]: said(confinement({})) } },
    status: "ok",
    says: /its own files alone.*no sockets and no new processes.*at most 64 threads/s,
    never: /not active/,
  },
  {
    name: "no user namespaces, as in a container",
    check: "ffmpeg.confinement",
    machine: {
      programs: { [confine]: said(confinement({ networkNamespace: false, threadLimit: false })) },
      files: { "/proc/sys/user/max_user_namespaces": "0\n" },
    },
    status: "ok",
    says: /not active: an empty network namespace; seccomp refuses sockets.*user\.max_user_namespaces is 0/s,
  },
  {
    name: "a kernel without Landlock",
    check: "ffmpeg.confinement",
    machine: {
      programs: { [confine]: said(confinement({ landlock: 0 })) },
      files: { "/sys/kernel/security/lsm": "lockdown,yama,apparmor\n" },
    },
    status: "warning",
    says: /in part.*not active: its own files alone.*can open what its user can.*lsm=/s,
  },
  {
    name: "no seccomp",
    check: "ffmpeg.confinement",
    machine: { programs: { [confine]: said(confinement({ seccomp: false })) } },
    status: "warning",
    says: /not active: no sockets and no new processes/,
  },
  {
    name: "a confining program that does not run",
    check: "ffmpeg.confinement",
    machine: { programs: { [confine]: said("Illegal instruction\n", 132) } },
    status: "problem",
    says: /no recording can be read.*Illegal instruction/s,
  },
  {
    name: "no confining program",
    check: "ffmpeg.confinement",
    machine: {},
    status: "problem",
    says: /can't be started/,
  },
];

describe("of a machine with", () => {
  for (const { name, check, machine, flags = {}, status, says, never } of cases) {
    test(`${name}, ${check} says ${status}`, async () => {
      const { summary, detail = [], advice = "", ...found } = await look(check, contextOf(machine, { flags }));
      const text = [summary, ...detail, advice].join("\n");
      expect([found.status, text]).toEqual([status, expect.stringMatching(says)]);
      if (never !== undefined) expect(text).not.toMatch(never);
      if (status === "warning" || status === "problem") expect(advice).toMatch(/\.$/);
    });
  }
});

const nvidia = pci("0x10de", "nvidia");
const loader = { "/usr/lib/x86_64-linux-gnu/libvulkan.so.1": "" };

test.each<[string, string[], Record<string, string>, FakeMachine, string, Status, RegExp]>([
  [
    "no backend",
    [],
    {},
    { files: nvidia },
    "gpu.devices",
    "warning",
    /1 NVIDIA GPU is there, but this build has no backend/,
  ],
  ["one", ["libggml-vulkan.so"], {}, { files: nvidia }, "gpu.devices", "ok", /NVIDIA GPU is there.*libggml-vulkan/s],
  ["no backend", [], {}, { files: nvidia }, "gpu.backends", "skipped", /this build has no GPU backend/],
  ["one and no GPU", ["libggml-vulkan.so"], {}, {}, "gpu.backends", "skipped", /there is no GPU/],
  [
    "one and no loader",
    ["libggml-vulkan.so"],
    {},
    { files: nvidia },
    "gpu.backends",
    "warning",
    /libvulkan\.so\.1 missing/,
  ],
  [
    "one and its loader",
    ["libggml-vulkan.so"],
    {},
    { files: { ...nvidia, ...loader } },
    "gpu.backends",
    "ok",
    /can be loaded/,
  ],
  [
    "CUDA's elsewhere and no driver",
    ["libggml-vulkan.so"],
    { "engine.cuda_library": "/opt/libggml-cuda.so" },
    { files: { ...nvidia, "/opt/libggml-cuda.so": "" } },
    "gpu.backends",
    "warning",
    /libcuda\.so\.1 and libvulkan\.so\.1 missing/,
  ],
  [
    "CUDA's that is not where the setting says, and no GPU",
    ["libggml-vulkan.so"],
    { "engine.cuda_library": "/opt/libggml-cuda.so" },
    { files: { "/opt/other.so": "" } },
    "gpu.backends",
    "warning",
    /engine\.cuda_library names \/opt\/libggml-cuda\.so, which is not there/,
  ],
])("of a build with %s: %#", async (_, libraries, flags, machine, check, status, says) => {
  using directory = temporaryDirectory();
  for (const name of libraries) writeFileSync(join(directory.path, name), "");
  const context = contextOf(machine, { flags });
  if (context.files instanceof Error) throw context.files;
  const files = { ...context.files, nativeDirectory: directory.path };
  const { summary, detail = [], ...found } = await look(check, { ...context, files });
  expect([found.status, [summary, ...detail].join("\n")]).toEqual([status, expect.stringMatching(says)]);
});
