import type { StatsFs } from "node:fs";
import { join } from "node:path";
import { ffmpegPath, root } from "../../../harness/checkout.ts";
import { loadSettings } from "../../../src/config/index.ts";
import type { CheckContext } from "../../../src/diagnostics/doctor/check.ts";
import type { CommandResult, Machine } from "../../../src/diagnostics/doctor/machine.ts";
import { checks, type Finding } from "../../../src/diagnostics/index.ts";
import { checkoutFiles } from "../../../src/program/layout.ts";
import { DataPaths } from "../../../src/storage/index.ts";

export interface FakeMachine {
  /** Text of its files, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Devices that this user may not use. */
  readonly closed?: readonly string[];
  /** Results of its programs, by the program's name. */
  readonly programs?: Readonly<Record<string, CommandResult>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly fileSystem?: Partial<StatsFs>;
  readonly now?: string;
  readonly userId?: number;
  readonly processors?: number;
}

/** Creates a machine that has only the given files and programs. */
export function fakeMachine(parts: FakeMachine): Machine {
  const files = parts.files ?? {};
  const children = (path: string) =>
    Object.keys(files).flatMap((file) =>
      file.startsWith(`${path}/`) ? [file.slice(path.length + 1).split("/")[0] ?? ""] : [],
    );
  return {
    read: (path) => files[path] ?? null,
    list: (path) => [...new Set(children(path))].sort(),
    mayUse: (path) => path in files && !(parts.closed ?? []).includes(path),
    statfs: () => (parts.fileSystem === undefined ? null : { ...fullFileSystem, ...parts.fileSystem }),
    run: async ([name]) => parts.programs?.[name] ?? null,
    environment: parts.environment ?? {},
    now: () => Date.parse(parts.now ?? "2026-11-21T12:00:00Z"),
    userId: parts.userId ?? 1000,
    processors: parts.processors ?? 4,
  };
}

const fullFileSystem: StatsFs = {
  type: 0,
  bsize: 4096,
  frsize: 4096,
  blocks: 1e9,
  bfree: 0,
  bavail: 0,
  files: 0,
  ffree: 0,
};

/** Creates a context with a fake machine, the checkout's own parts and, by default, a missing data directory. */
export function contextOf(
  machine: FakeMachine,
  more: Partial<CheckContext> & { flags?: Record<string, string> } = {},
): CheckContext {
  const { flags = {}, ...rest } = more;
  return {
    settings: loadSettings({ file: undefined, environment: {}, flags }),
    settingsError: null,
    configFile: null,
    paths: new DataPaths("/nowhere/data"),
    data: "missing",
    files: {
      nativeDirectory: join(root, "build/native"),
      onnxBinding: join(root, "package.json"),
      ffmpeg: ffmpegPath,
      confine: join(root, "build/ffmpeg/confine"),
      speechModel: join(root, "package.json"),
      segmentationModel: checkoutFiles.segmentationModel,
      embeddingModel: checkoutFiles.embeddingModel,
      benchRecording: join(root, "build/samples/jfk.mp3"),
    },
    filesArePresent: true,
    speechModels: null,
    speechModel: { id: "whisper-base", path: join(root, "package.json") },
    database: null,
    server: null,
    machine: fakeMachine(machine),
    all: false,
    signal: new AbortController().signal,
    ...rest,
  };
}

/** Runs the check with this id. */
export async function runCheck(id: string, context: CheckContext): Promise<Finding> {
  const check = checks.find((candidate) => candidate.id === id);
  if (check === undefined) throw new Error(`there is no check ${id}`);
  return await check.run(context);
}
