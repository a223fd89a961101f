import { type Static, type TSchema, Type } from "@sinclair/typebox";

/**
 * Every setting there is, once: name, type, unit, default and description. The file, the environment, the flags and the
 * documentation are made from this schema. A key's dotted path is its name in the file (`server.port`); the environment
 * name is made from it (`TRANSCRIBE_SERVER_PORT`) unless `env` names a shorter one; `flag` is its option of `serve`.
 */
export interface SettingAnnotations {
  readonly env?: string;
  readonly flag?: string;
}

function text(options: { default: string; description: string } & SettingAnnotations) {
  return Type.String(options);
}

function integer(
  options: { default: number; description: string; minimum: number; maximum: number } & SettingAnnotations,
) {
  return Type.Integer(options);
}

function group<T extends Record<string, TSchema>>(properties: T, description: string) {
  return Type.Object(properties, { additionalProperties: false, description });
}

export const settingsSchema = group(
  {
    server: group(
      {
        host: text({
          default: "127.0.0.1",
          description: "Address to listen on. Loopback by default; 0.0.0.0 takes requests from the network.",
          env: "TRANSCRIBE_HOST",
          flag: "--host",
        }),
        port: integer({
          default: 8787,
          minimum: 0,
          maximum: 65_535,
          description: "TCP port to listen on; 0 takes any free one.",
          env: "TRANSCRIBE_PORT",
          flag: "--port",
        }),
      },
      "Where the API is served.",
    ),
    storage: group(
      {
        data_dir: text({
          default: "data",
          description: "Directory that holds the database, the uploads and the work files. Made if it is not there.",
          env: "TRANSCRIBE_DATA_DIR",
          flag: "--data-dir",
        }),
      },
      "Where everything is kept.",
    ),
    queue: group(
      {
        slots: integer({
          default: 5,
          minimum: 1,
          maximum: 64,
          description: "Recordings that are processed at the same time.",
        }),
      },
      "How recordings are worked off.",
    ),
    limits: group(
      {
        upload_bytes: integer({
          default: 512 * 1024 * 1024,
          minimum: 1,
          maximum: 64 * 1024 ** 3,
          description: "Largest recording that is taken, in bytes.",
        }),
        recording_seconds: integer({
          default: 18 * 3600,
          minimum: 1,
          maximum: 7 * 24 * 3600,
          description: "Longest recording that is taken, in seconds.",
        }),
        recordings_per_account: integer({
          default: 5,
          minimum: 1,
          maximum: 100_000,
          description: "Recordings that one account may have queued or processing at a time.",
        }),
      },
      "What is refused.",
    ),
    engine: group(
      {
        threads: integer({
          default: 0,
          minimum: 0,
          maximum: 1024,
          description: "CPU threads that all recordings share for inference; 0 takes one per core.",
        }),
        whisper_model: text({
          default: "",
          description: "Path of the whisper model (ggml). Empty takes the default model that setup installed.",
        }),
      },
      "The inference worker.",
    ),
    log: group(
      {
        level: Type.Union(
          [
            Type.Literal("debug"),
            Type.Literal("info"),
            Type.Literal("warn"),
            Type.Literal("error"),
            Type.Literal("silent"),
          ],
          { default: "info", description: "Least severe log line that is written.", flag: "--log-level" },
        ),
      },
      "The log on standard error, one JSON object a line.",
    ),
  },
  "Settings of the transcribe server.",
);

export type Settings = Static<typeof settingsSchema>;
