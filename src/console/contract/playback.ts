import { type Static, Type } from "@sinclair/typebox";
import type { Routes } from "./route.ts";
import { limitSchema, nullable, secondsSchema } from "./shared.ts";

/** Status of the playback copy. */
export const playbackCopySchema = Type.Object({
  /** `ready`: the routes `audio` and `waveform` work. `none`: the recording's audio is deleted or has not been decoded. */
  state: Type.Union([Type.Literal("ready"), Type.Literal("making"), Type.Literal("none"), Type.Literal("failed")]),
  /** Progress while the copy is made, if known. */
  percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
  /** Reason why there is no copy, shown to the user unchanged; null unless `none` or `failed`. */
  message: nullable(Type.String()),
});
export type PlaybackCopy = Static<typeof playbackCopySchema>;

export const waveformSchema = Type.Object({
  peaks_per_second: Type.Number({ exclusiveMinimum: 0 }),
  /** Start time of the first peak. */
  start_seconds: secondsSchema,
  /**
   * Base64 with one byte, 0 to 255, for each peak: the square root of the loudest sample's amplitude, drawn as a
   * height.
   */
  peaks: Type.String(),
});

const positionSchema = Type.Optional(
  Type.String({ pattern: "^\\d{1,7}(\\.\\d{1,6})?$", description: "a time in seconds from the beginning" }),
);

/** The playback copy of a recording, and its waveform. */
export const playbackRoutes = {
  /** Starts the copy if there is none. */
  playbackCopy: { at: "GET /recordings/:id/playback", access: "reader", answer: playbackCopySchema },
  audio: { at: "GET /recordings/:id/audio", access: "reader", answer: "file" },
  /** The peaks between two times; without them, of the whole recording. Neighbours are merged until there are `most`. */
  waveform: {
    at: "GET /recordings/:id/waveform",
    access: "reader",
    query: Type.Object({ most: limitSchema(20_000, 4000), from: positionSchema, to: positionSchema }),
    answer: waveformSchema,
  },
} as const satisfies Routes;
