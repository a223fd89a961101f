import type { Check } from "../check.ts";
import { auditChecks } from "./audit.ts";
import { cpuChecks } from "./cpu.ts";
import { dataChecks } from "./data.ts";
import { ffmpegChecks } from "./ffmpeg.ts";
import { fleetChecks } from "./fleet.ts";
import { folderChecks } from "./folders.ts";
import { gpuChecks } from "./gpu.ts";
import { modelChecks } from "./models.ts";
import { programChecks } from "./program.ts";
import { serverChecks } from "./server.ts";
import { standbyChecks } from "./standby.ts";
import { standbyCopyChecks } from "./standby-copy.ts";
import { storageChecks } from "./storage.ts";
import { memoryChecks, systemChecks } from "./system.ts";
import { webhookChecks } from "./webhooks.ts";

/** All checks in display order. docs/troubleshooting.md has a section for each. */
export const checks: readonly Check[] = [
  ...programChecks,
  ...cpuChecks,
  ...gpuChecks,
  ...modelChecks,
  ...ffmpegChecks,
  ...dataChecks,
  ...storageChecks,
  ...serverChecks,
  ...auditChecks,
  ...folderChecks,
  ...webhookChecks,
  ...fleetChecks,
  ...standbyChecks,
  ...standbyCopyChecks,
  ...memoryChecks,
  ...systemChecks,
];
