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

function flag(options: { default: boolean; description: string } & SettingAnnotations) {
  return Type.Boolean(options);
}

function list(options: { default: string[]; description: string } & SettingAnnotations) {
  return Type.Array(Type.String({ minLength: 1 }), options);
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
        audio_minutes_per_day: integer({
          default: 1200,
          minimum: 0,
          maximum: 10_000_000,
          description: "Minutes of audio that one account may have processed in a day (UTC).",
        }),
        creates_per_hour: integer({
          default: 60,
          minimum: 0,
          maximum: 1_000_000,
          description: "Recordings that one account may create within an hour.",
        }),
        creates_per_day: integer({
          default: 500,
          minimum: 0,
          maximum: 1_000_000,
          description: "Recordings that one account may create within 24 hours.",
        }),
        requests_per_minute: integer({
          default: 120,
          minimum: 1,
          maximum: 1_000_000,
          description: "Requests that one key may make within a minute.",
        }),
        failed_authentications_per_minute: integer({
          default: 20,
          minimum: 1,
          maximum: 1_000_000,
          description: "Failed authentications that one address (IPv6: /64) may make within a minute.",
        }),
      },
      "What is refused. Those of accounts and keys can be set for an account: transcribe accounts limits.",
    ),
    fetch: group(
      {
        enabled: flag({ default: true, description: "Whether a recording may be sent as a link." }),
        allow: list({
          default: [],
          description:
            "Hosts (media.example.org, *.example.org) and networks (10.1.0.0/16) that links may lead to although their addresses are not public.",
        }),
        timeout_seconds: integer({
          default: 3600,
          minimum: 1,
          maximum: 86_400,
          description: "Longest time that fetching a link may take, in seconds.",
        }),
        stall_seconds: integer({
          default: 30,
          minimum: 1,
          maximum: 3600,
          description: "Longest time that a link may send nothing, in seconds.",
        }),
      },
      "Recordings that are sent as a link.",
    ),
    retention: group(
      {
        audio_days: integer({
          default: 7,
          minimum: 0,
          maximum: 36_500,
          description: "Days that a recording itself is kept after it has ended; 0 removes it at once.",
        }),
        completed_days: integer({
          default: 0,
          minimum: 0,
          maximum: 36_500,
          description: "Days after which a recording that has ended is deleted with its text; 0 keeps it for ever.",
        }),
      },
      "What is kept for how long.",
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
    metrics: group(
      {
        remote: flag({
          default: false,
          description: "Whether other machines may read /metrics; by default this machine alone may.",
        }),
      },
      "What is told to Prometheus.",
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
