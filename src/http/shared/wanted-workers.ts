import { type Static, Type } from "@sinclair/typebox";

/** The answer of `GET /fleet/workers`: how many workers a fleet needs. */
export const wantedWorkersSchema = Type.Object({
  wanted: Type.Integer({
    minimum: 0,
    description: "Workers that process the waiting audio within fleet.target_minutes, at most fleet.max_workers",
  }),
  present: Type.Integer({ minimum: 0, description: "Workers that take parts of recordings now" }),
  waiting_audio_seconds: Type.Number({ minimum: 0, description: "Audio that is not processed yet, partly estimated" }),
  lane_speed: Type.Number({ description: "Seconds of recordings that one lane processes in a second, as measured" }),
  lanes_of_worker: Type.Number({ description: "Lanes of a worker on average" }),
});
export type WantedWorkersAnswer = Static<typeof wantedWorkersSchema>;
