import { type Static, Type } from "@sinclair/typebox";
import { statusSchema } from "../../recordings/index.ts";
import {
  bytesSchema,
  countSchema,
  namedSchema,
  nullable,
  progressSchema,
  secondsSchema,
  timeSchema,
} from "./shared.ts";

/** A recording that has not ended. */
const openRecordingSchema = Type.Object({
  id: Type.String(),
  /** The file's name without its extension, or the link. */
  name: nullable(Type.String()),
  account: namedSchema,
  workspace: nullable(namedSchema),
  status: statusSchema,
  progress: progressSchema,
  /** Place among those that wait, from 1, by the order in which the queue would begin them now; null: it is in work. */
  place: nullable(Type.Integer({ minimum: 1 })),
  /** What keeps it from being gone on with, in plain words; it is tried again by itself. */
  trouble: nullable(Type.String()),
  duration_seconds: nullable(secondsSchema),
  created_at: timeSchema,
});
export type OpenRecording = Static<typeof openRecordingSchema>;

/** A UTC day, whole zero where nothing was done. */
const daySchema = Type.Object({
  /** e.g. `2026-11-21` */
  day: Type.String(),
  /** Length of the recordings whose length became known that day, and of those that completed. */
  received_seconds: secondsSchema,
  completed_seconds: secondsSchema,
  completed: countSchema,
  failed: countSchema,
});
export type Day = Static<typeof daySchema>;

/** Work of one step on one device since the server was started. */
const speedSchema = Type.Object({
  step: Type.String(),
  /** `cpu`, or the GPU backend. */
  device: Type.String(),
  /** Which GPU, by its label, e.g. `CUDA0`; null: the CPU. */
  gpu: nullable(Type.String()),
  work_seconds: secondsSchema,
  audio_seconds: secondsSchema,
  /** Seconds of audio to a second of work. */
  times_real_time: secondsSchema,
});
export type Speed = Static<typeof speedSchema>;

/** GET overview, and the data of each `overview` event of GET events. */
export const overviewSchema = Type.Object({
  server: Type.Object({
    version: Type.String(),
    started_at: timeSchema,
    /** The speech model that new recordings get. */
    model: Type.String(),
    /** What keeps it from taking work, in plain words. */
    trouble: nullable(Type.String()),
  }),
  queue: Type.Object({
    queued: countSchema,
    processing: countSchema,
    /** Recordings worked on at once at most. */
    slots: countSchema,
    /** Since when the one that waits longest has waited. */
    waiting_since: nullable(timeSchema),
  }),
  /** Those in work by age, then those that wait by their place; 100 at most, `queue` counts them all. */
  recordings: Type.Array(openRecordingSchema),
  /** The last 30 days, today last. */
  days: Type.Array(daySchema),
  speed: Type.Array(speedSchema),
  memory: Type.Object({
    /** Resident memory of the server, and of its workers with the models; null: there is no worker now. */
    server_bytes: bytesSchema,
    worker_bytes: nullable(bytesSchema),
    /** Of the machine, or of what it may use of it. */
    available_bytes: bytesSchema,
    total_bytes: bytesSchema,
    gpus: Type.Array(
      Type.Object({
        /** Its backend and number, e.g. `CUDA0`. */
        label: Type.String(),
        name: Type.String(),
        free_bytes: bytesSchema,
        total_bytes: bytesSchema,
      }),
    ),
  }),
  /** Null: it can't be asked now. */
  disk: nullable(
    Type.Object({
      free_bytes: bytesSchema,
      size_bytes: bytesSchema,
      /** What the server leaves free. */
      reserve_bytes: bytesSchema,
      database_bytes: bytesSchema,
      /** By folder of the data directory. */
      folders: Type.Record(Type.String(), bytesSchema),
    }),
  ),
  /** Requests that were refused since the server was started, by the API's code, most first; none that is 0. */
  refusals: Type.Array(Type.Object({ code: Type.String(), count: countSchema })),
  /** Recordings that failed since then, by reason; `cause` stands behind `internal`. */
  failures: Type.Array(Type.Object({ reason: Type.String(), cause: nullable(Type.String()), count: countSchema })),
  worker: Type.Object({
    state: Type.Union([Type.Literal("ready"), Type.Literal("asleep"), Type.Literal("starting"), Type.Literal("down")]),
    /** Times that it ended unasked since the server was started, by signal; `none`: an exit of its own. */
    deaths: Type.Array(Type.Object({ signal: Type.String(), count: countSchema })),
  }),
});
export type Overview = Static<typeof overviewSchema>;
