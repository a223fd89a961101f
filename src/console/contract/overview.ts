import { type Static, Type } from "@sinclair/typebox";
import { statusSchema } from "../../recordings/index.ts";
import type { Routes } from "./route.ts";
import {
  bytesSchema,
  countSchema,
  namedSchema,
  nullable,
  progressSchema,
  secondsSchema,
  timeSchema,
} from "./shared.ts";

/** A recording that is queued or processing. */
const openRecordingSchema = Type.Object({
  id: Type.String(),
  /** The file's name without its extension, or the link. */
  name: nullable(Type.String()),
  account: namedSchema,
  workspace: nullable(namedSchema),
  status: statusSchema,
  progress: progressSchema,
  /**
   * Place in the queue, from 1, in the order in which the queue would start the recordings now; null: it is not
   * waiting.
   */
  place: nullable(Type.Integer({ minimum: 1 })),
  /** The problem that keeps the recording from continuing, in plain words; the server retries by itself. */
  problem: nullable(Type.String()),
  duration_seconds: nullable(secondsSchema),
  created_at: timeSchema,
});
export type OpenRecording = Static<typeof openRecordingSchema>;

/** Work of one UTC day; all figures are zero on a day without work. */
const daySchema = Type.Object({
  /** e.g. `2026-11-21` */
  day: Type.String(),
  /** Length of the recordings whose length became known on this day, and of those that completed on it. */
  received_seconds: secondsSchema,
  completed_seconds: secondsSchema,
  completed: countSchema,
  failed: countSchema,
});
export type Day = Static<typeof daySchema>;

/** Work of one step on one device since the start of the server. */
const speedSchema = Type.Object({
  step: Type.String(),
  /** `cpu`, or the GPU backend. */
  device: Type.String(),
  /** Label of the GPU, e.g. `CUDA0`; null: the CPU. */
  gpu: nullable(Type.String()),
  work_seconds: secondsSchema,
  audio_seconds: secondsSchema,
  /** Seconds of audio processed in one second of work. */
  times_real_time: secondsSchema,
});
export type Speed = Static<typeof speedSchema>;

/** The state of the server. */
export const overviewSchema = Type.Object({
  server: Type.Object({
    version: Type.String(),
    started_at: timeSchema,
    /** The speech model for new recordings. */
    model: Type.String(),
    /** The problem that keeps the server from processing recordings, in plain words. */
    problem: nullable(Type.String()),
  }),
  queue: Type.Object({
    queued: countSchema,
    processing: countSchema,
    /** Maximum number of recordings that are processed at the same time. */
    slots: countSchema,
    /** Time since which the longest waiting recording has been queued. */
    waiting_since: nullable(timeSchema),
  }),
  /** Recordings in progress by age, then queued recordings by place; at most 100. `queue` counts all of them. */
  recordings: Type.Array(openRecordingSchema),
  /** The last 30 days, today last. */
  days: Type.Array(daySchema),
  speed: Type.Array(speedSchema),
  memory: Type.Object({
    /** Resident memory of the server, and of its workers including the models; null: no worker runs now. */
    server_bytes: bytesSchema,
    worker_bytes: nullable(bytesSchema),
    /** Memory of the machine, or the part of it that the server may use. */
    available_bytes: bytesSchema,
    total_bytes: bytesSchema,
    gpus: Type.Array(
      Type.Object({
        /** Backend and number, e.g. `CUDA0`. */
        label: Type.String(),
        name: Type.String(),
        free_bytes: bytesSchema,
        total_bytes: bytesSchema,
      }),
    ),
  }),
  /** Null: the disk cannot be read now. */
  disk: nullable(
    Type.Object({
      free_bytes: bytesSchema,
      size_bytes: bytesSchema,
      /** Disk space that the server leaves free. */
      reserve_bytes: bytesSchema,
      database_bytes: bytesSchema,
      /** Bytes by folder of the data directory. */
      folders: Type.Record(Type.String(), bytesSchema),
    }),
  ),
  /**
   * Refused requests since the start of the server, by the API's error code, most frequent first; without codes that
   * did not occur.
   */
  refusals: Type.Array(Type.Object({ code: Type.String(), count: countSchema })),
  /** Failed recordings since the start of the server, by reason. `cause` is the cause of the reason `internal`. */
  failures: Type.Array(Type.Object({ reason: Type.String(), cause: nullable(Type.String()), count: countSchema })),
  worker: Type.Object({
    state: Type.Union([Type.Literal("ready"), Type.Literal("asleep"), Type.Literal("starting"), Type.Literal("down")]),
    /** Number of operations of the speech model that run at the same time on this machine. */
    lanes: countSchema,
    /** Number of operations of the speech model that wait for one of them. */
    waiting: countSchema,
    /** The decoder that operations of a GPU share; null: each decodes alone. */
    decoder: nullable(
      Type.Object({
        slots: countSchema,
        /** Rows of texts in each of its latest steps; null: it made none. */
        rows_per_step: nullable(secondsSchema),
      }),
    ),
    /** Unexpected exits of the worker since the start of the server, by signal; `none`: the worker exited by itself. */
    crashes: Type.Array(Type.Object({ signal: Type.String(), count: countSchema })),
  }),
  /** Number of live sessions, and of those that the machine serves at the same time; null: the settings allow none. */
  live: nullable(Type.Object({ open: countSchema, places: countSchema })),
  /** Number of webhooks that are paused. */
  paused_webhooks: countSchema,
  /** The workers of the server's fleet, by name; null: the server works alone. */
  fleet: nullable(
    Type.Array(
      Type.Object({
        name: Type.String(),
        version: Type.String(),
        /** Number of parts of recordings that it can process at the same time, and that it processes now. */
        lanes: countSchema,
        busy: countSchema,
        /** The problem for which it gets no parts, in plain words. */
        problem: nullable(Type.String()),
      }),
    ),
  ),
});
export type Overview = Static<typeof overviewSchema>;

/** The state of the server, once or as server-sent events `overview` whose data is the same JSON. */
export const overviewRoutes = {
  overview: { at: "GET /overview", access: "operator", answer: overviewSchema },
  overviewEvents: { at: "GET /events", access: "operator", answer: "events" },
} as const satisfies Routes;
