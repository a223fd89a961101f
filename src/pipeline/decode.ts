import { statSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { decodeRecording, MediaError, PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "../media/index.ts";
import type { RoomClaim } from "../storage/index.ts";
import { RecordingFailure, type StepContext } from "./step.ts";
import type { Track } from "./tracks.ts";

const decodedSchema = Type.Object({
  sampleCount: Type.Integer({ minimum: 0 }),
  /** One where it is missing. */
  tracks: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
});

/** The contract's least length of a recording. */
const minSeconds = 0.5;

export interface DecodeOptions {
  readonly ffmpegPath: string;
  readonly maxSeconds: number;
  /** Promises room on the disk, in bytes. @throws {MachineError} where there is none */
  readonly claimRoom: (bytes: number) => RoomClaim;
}

/**
 * decode: the recording as 16 kHz mono PCM; a call with a channel for each party as two tracks.
 * @throws {RecordingFailure} `no_speech` for no audio at all, `too_short`, or `internal` with the decoder's fault
 */
export async function decode(context: StepContext, options: DecodeOptions): Promise<Track[]> {
  const path = join(context.workDirectory, "audio.pcm");
  const secondPath = join(context.workDirectory, "audio-1.pcm");
  const finished = context.checkpoints.read("decode", 0, decodedSchema);
  if (finished !== null) {
    const tracks = tracksOf([path, secondPath].slice(0, finished.tracks ?? 1), finished.sampleCount);
    if (tracks.every(isThere)) return tracks;
  }
  context.progress(null);
  const { sampleCount, paths } = await decodeRecording({
    ffmpegPath: options.ffmpegPath,
    inputPath: context.uploadPath,
    outputPath: path,
    secondOutputPath: secondPath,
    maxSeconds: options.maxSeconds,
    claimRoom: options.claimRoom,
    onProgress: context.progress,
    signal: context.signal,
  }).catch((error: unknown) => {
    throw error instanceof MediaError ? failureOf(error) : error;
  });
  if (sampleCount === 0) throw new RecordingFailure({ reason: "no_speech" }, "the recording decodes to nothing");
  if (sampleCount < minSeconds * PCM_SAMPLE_RATE_HZ) {
    throw new RecordingFailure({ reason: "too_short" }, `the recording has ${sampleCount} samples`);
  }
  context.checkpoints.write("decode", 0, decodedSchema, { sampleCount, tracks: paths.length });
  return tracksOf(paths, sampleCount);
}

/** A file that turns out to hold nothing decodable has no speech in it; everything else is the service's fault. */
function failureOf(error: MediaError): RecordingFailure {
  if (error.fault === "not_a_recording") {
    return new RecordingFailure({ reason: "no_speech" }, error.message, { cause: error });
  }
  return new RecordingFailure({ reason: "internal", cause: error.fault }, error.message, { cause: error });
}

function tracksOf(paths: readonly string[], sampleCount: number): Track[] {
  return paths.map((path, index) => ({ index, isParty: paths.length > 1, pcm: { path, sampleCount } }));
}

function isThere({ pcm }: Track): boolean {
  return statSync(pcm.path, { throwIfNoEntry: false })?.size === pcm.sampleCount * PCM_BYTES_PER_SAMPLE;
}
