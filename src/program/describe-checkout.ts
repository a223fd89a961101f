import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { BuildInfo } from "./build-info.ts";
import { checkout } from "./checkout.ts";
import { checkoutFiles } from "./checkout-files.ts";
import { digestFile } from "./digest-file.ts";
import { askFfmpeg, type FfmpegWords } from "./ffmpeg-words.ts";
import { outputOf } from "./output-of.ts";
import { programVersion } from "./version.ts";

/** Parts of a program for another kind of machine, used instead of this machine's parts. */
export interface ForeignParts {
  /** e.g. `linux-arm64` */
  readonly target: string;
  readonly ffmpeg: FfmpegWords;
  readonly ffmpegPath: string;
}

/** Describes the components of a checkout in which scripts/setup was run; missing ones are `unknown`. */
export async function describeCheckout(foreign?: ForeignParts): Promise<BuildInfo> {
  const { ffmpeg, speechModel, segmentationModel, embeddingModel } = checkoutFiles;
  const words = foreign?.ffmpeg ?? (await askFfmpeg(ffmpeg));
  return {
    version: programVersion,
    commit: await commit(),
    target: foreign?.target ?? `${process.platform}-${process.arch}`,
    bun: Bun.version,
    whisperCpp: match(whisperCppSource("CMakeLists.txt"), /project\("whisper\.cpp" VERSION ([\d.]+)\)/),
    onnxRuntime: match("node_modules/onnxruntime-node/package.json", /"version": "([^"]+)"/),
    ffmpeg: words.made?.match(/^ffmpeg version (\S+)/)?.[1] ?? "unknown",
    models: await Promise.all(
      [speechModel, segmentationModel, embeddingModel].map(async (path) => ({
        file: basename(path),
        sha256: await digestFile(path, "sha256").catch(() => "unknown"),
      })),
    ),
  };
}

/** Returns a path in whisper.cpp's sources, relative to the checkout. */
export function whisperCppSource(path: string): string {
  return join("node_modules/nodejs-whisper/cpp/whisper.cpp", path);
}

async function commit(): Promise<string> {
  const head = await outputOf(["git", "rev-parse", "HEAD"], checkout);
  if (head === null) return "unknown";
  const changes = await outputOf(["git", "status", "--porcelain"], checkout);
  return changes === "" ? head : `${head}-changed`;
}

function match(path: string, pattern: RegExp): string {
  try {
    return readFileSync(join(checkout, path), "utf8").match(pattern)?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}
