import type { Check } from "../check.ts";
import { cpuFeatures } from "./cpu-features.ts";
import { cpuThreads } from "./cpu-threads.ts";
import { cpuVariant } from "./cpu-variant.ts";
import { cpuVerdicts } from "./cpu-verdicts.ts";
import { dataDirectory } from "./data-directory.ts";
import { dataFilesystem } from "./data-filesystem.ts";
import { dataLeftovers } from "./data-leftovers.ts";
import { dataRights } from "./data-rights.ts";
import { databaseIntegrity } from "./database-integrity.ts";
import { databaseVersion } from "./database-version.ts";
import { diskInodes } from "./disk-inodes.ts";
import { diskSpace } from "./disk-space.ts";
import { engineEncoder } from "./engine-encoder.ts";
import { engineOnnx } from "./engine-onnx.ts";
import { ffmpegConfinement } from "./ffmpeg-confinement.ts";
import { ffmpegDecode } from "./ffmpeg-decode.ts";
import { ffmpegFormats } from "./ffmpeg-formats.ts";
import { ffmpegProgram } from "./ffmpeg-program.ts";
import { gpuAccess } from "./gpu-access.ts";
import { gpuBackends } from "./gpu-backends.ts";
import { gpuDevices } from "./gpu-devices.ts";
import { gpuDriver } from "./gpu-driver.ts";
import { gpuInference } from "./gpu-inference.ts";
import { gpuSpeakers } from "./gpu-speakers.ts";
import { memorySize } from "./memory-size.ts";
import { memorySwap } from "./memory-swap.ts";
import { modelLibrary } from "./model-library.ts";
import { modelSpeakers } from "./model-speakers.ts";
import { modelSpeech } from "./model-speech.ts";
import { programParts } from "./program-files.ts";
import { serverPort } from "./server-port.ts";
import { serverRunning } from "./server-running.ts";
import { serverService } from "./server-service.ts";
import { serverTls } from "./server-tls.ts";
import { settingsValid } from "./settings-valid.ts";
import { systemClock } from "./system-clock.ts";
import { systemKernel } from "./system-kernel.ts";
import { systemOpenFiles } from "./system-open-files.ts";
import { systemUser } from "./system-user.ts";

/** All checks in display order. docs/troubleshooting.md has a section for each. */
export const checks: readonly Check[] = [
  ...[settingsValid, programParts],
  ...[cpuFeatures, cpuThreads, cpuVariant, cpuVerdicts],
  ...[gpuDevices, gpuDriver, gpuAccess, gpuBackends, gpuInference, gpuSpeakers],
  ...[modelSpeech, modelSpeakers, modelLibrary, engineOnnx, engineEncoder],
  ...[ffmpegProgram, ffmpegFormats, ffmpegDecode, ffmpegConfinement],
  ...[dataDirectory, dataRights, dataFilesystem, dataLeftovers, diskSpace, diskInodes],
  ...[databaseIntegrity, databaseVersion],
  ...[serverRunning, serverPort, serverTls, serverService],
  ...[memorySize, memorySwap],
  ...[systemUser, systemOpenFiles, systemClock, systemKernel],
];
