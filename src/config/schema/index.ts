import type { Static } from "@sinclair/typebox";
import { console } from "./console.ts";
import { engine } from "./engine.ts";
import { fetch } from "./fetch.ts";
import { group } from "./kinds.ts";
import { limits } from "./limits.ts";
import { log } from "./log.ts";
import { metrics } from "./metrics.ts";
import { models } from "./models.ts";
import { queue } from "./queue.ts";
import { retention } from "./retention.ts";
import { server } from "./server.ts";
import { storage } from "./storage.ts";

export type { SettingAnnotations } from "./kinds.ts";

/**
 * Every setting, defined once: name, type, unit, range, default and description, with one file for each table. The
 * settings file, the environment, the flags and the documentation are generated from this schema. A key's dotted path
 * is its name in the file (`server.port`). Its environment variable is derived from the path (`TRANSCRIBE_QUEUE_SLOTS`)
 * unless `env` names a shorter one. `flag` is its option of `serve`.
 */
export const settingsSchema = group("Settings of the transcribe server.", {
  server,
  storage,
  queue,
  limits,
  fetch,
  retention,
  engine,
  models,
  metrics,
  console,
  log,
});

export type Settings = Static<typeof settingsSchema>;
