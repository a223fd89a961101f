import { Elysia } from "elysia";
import { readQuery } from "../../http/index.ts";
import { readWaveform } from "../../media/index.ts";
import { listeningSchema } from "../contract/recordings.ts";
import { waveformSchema } from "../contract/transcript.ts";
import { ConsoleError } from "../errors.ts";
import { fileAnswer } from "../file-answer.ts";
import { waveformQuery } from "../queries.ts";
import { showListening } from "../recording-facts.ts";
import { requireRecording } from "../require-recording.ts";
import type { ConsoleServices } from "../services.ts";

/** Creates the routes for the playback copy of a recording and its waveform. */
export function listeningRoutes({ recordings, listening }: ConsoleServices) {
  const filesOf = (id: string) => {
    const copy = listening.stateOf(requireRecording(recordings, id).id);
    if (copy.state === "ready") return copy.files;
    throw new ConsoleError(
      "not_ready",
      "message" in copy ? copy.message : "The recording is being prepared for playback.",
    );
  };
  return new Elysia({ name: "console-listening", prefix: "/recordings/:id" })
    .get("/listening", ({ params }) => showListening(listening.request(requireRecording(recordings, params.id).id)), {
      response: { 200: listeningSchema },
    })
    .get("/audio", ({ request, params }) => fileAnswer(request, filesOf(params.id).audio, "audio/webm"))
    .get(
      "/waveform",
      async ({ request, params }) => {
        const { most, from, to } = readQuery(request, waveformQuery);
        const range = {
          most,
          ...(from === undefined ? {} : { fromSeconds: Number(from) }),
          ...(to === undefined ? {} : { toSeconds: Number(to) }),
        };
        const { peaksPerSecond, startSeconds, peaks } = await readWaveform(filesOf(params.id).waveform, range);
        return {
          peaks_per_second: peaksPerSecond,
          start_seconds: startSeconds,
          peaks: Buffer.from(peaks).toString("base64"),
        };
      },
      { response: { 200: waveformSchema } },
    );
}
