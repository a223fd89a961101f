import { lstatSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { type Static, Type } from "@sinclair/typebox";
import {
  type DecodeRoom,
  decodeRecording,
  MediaError,
  PCM_BYTES_PER_SAMPLE,
  PCM_SAMPLE_RATE_HZ,
  roomForResults,
  soundDigest,
} from "../media/index.ts";
import type { Checkpoints } from "../recordings/index.ts";
import type { WorkReservations } from "../storage/index.ts";
import { RecordingFailure, type StepContext } from "./step.ts";
import type { Track } from "./tracks.ts";

const decodedSchema = Type.Object({
  sampleCount: Type.Integer({ minimum: 0 }),
  /** A missing value means 1. */
  tracks: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
  /** The digest of each track's file; earlier versions stored none. */
  digests: Type.Optional(Type.Array(Type.String())),
});

type Decoded = Static<typeof decodedSchema>;

/**
 * Measured size of the decoded audio in bytes. It is stored if the header declared less, or more than the disk holds.
 */
const measuredSchema = Type.Object({ bytes: Type.Integer({ minimum: 0 }) });

/** Minimum length of a recording in the API contract, in seconds. */
const minSeconds = 0.5;

export interface DecodeOptions {
  readonly ffmpegPath: string;
  readonly maxSeconds: number;
  readonly room: WorkReservations;
  /** Called with the container's length before decoding starts; an error that it throws ends the step. */
  readonly onProbed: (declaredSeconds: number | null) => void;
}

/**
 * Runs the step `decode`: converts the recording to 16 kHz mono PCM. A call with a separate channel for each party
 * becomes two tracks. Disk space for all work files is reserved before decoding and held until the recording ends.
 * @throws {RecordingFailure} `no_speech` if there is no audio, `too_short`, or `internal` with the decoder's fault
 */
export async function decode(context: StepContext, options: DecodeOptions): Promise<Track[]> {
  const [path, secondPath] = [context.files.pcm(0), context.files.pcm(1)];
  const finished = context.checkpoints.read("decode", 0, decodedSchema);
  if (finished !== null) {
    const tracks = tracksOf([path, secondPath].slice(0, finished.tracks ?? 1), finished.sampleCount);
    if (await areWhole(tracks, finished.digests, context.signal)) {
      keepRoom(context.recording.id, options.room, finished);
      return tracks;
    }
  }
  context.progress(null);
  // The remaining files would occupy disk space that the reservation may need.
  for (const left of [path, secondPath]) await rm(left, { force: true });
  const { sampleCount, paths, damaged, declaredSeconds } = await decodeRecording({
    ffmpegPath: options.ffmpegPath,
    inputPath: context.files.upload,
    outputPath: path,
    secondOutputPath: secondPath,
    maxSeconds: options.maxSeconds,
    room: roomOf(context, options.room),
    onProbed: options.onProbed,
    onProgress: context.progress,
    signal: context.signal,
  }).catch((error: unknown) => {
    options.room.release(context.recording.id);
    throw error instanceof MediaError ? failureOf(error) : error;
  });
  if (damaged) {
    const decodedSeconds = sampleCount / PCM_SAMPLE_RATE_HZ;
    context.log.warn({
      event: "recording.damaged",
      recordingId: context.recording.id,
      decodedSeconds,
      declaredSeconds,
    });
  }
  if (sampleCount === 0) throw new RecordingFailure({ reason: "no_speech" }, "the recording decodes to nothing");
  if (sampleCount < minSeconds * PCM_SAMPLE_RATE_HZ) {
    throw new RecordingFailure({ reason: "too_short" }, `the recording has ${sampleCount} samples`);
  }
  const digests: string[] = [];
  for (const each of paths) digests.push((await soundDigest(each, context.signal)) ?? "");
  const decoded = { sampleCount, tracks: paths.length, digests };
  context.checkpoints.write("decode", 0, decodedSchema, decoded);
  keepRoom(context.recording.id, options.room, decoded);
  return tracksOf(paths, sampleCount);
}

function roomOf({ recording, files, checkpoints }: StepContext, room: WorkReservations): DecodeRoom {
  // The upload may be a symbolic link to a file elsewhere, which takes no disk space here.
  const uploadBytes = lstatSync(files.upload, { throwIfNoEntry: false })?.size ?? 0;
  return {
    measured: checkpoints.read("room", 0, measuredSchema)?.bytes ?? null,
    keepMeasured: (bytes) => checkpoints.write("room", 0, measuredSchema, { bytes }),
    couldHold: (bytes) => room.couldFit(uploadBytes + bytes + roomForResults(bytes)),
    claim(bytes) {
      room.reserve(recording.id, bytes + roomForResults(bytes));
      return { written: (count) => room.written(recording.id, count) };
    },
  };
}

/**
 * Reserves disk space for a recording whose audio an earlier server has decoded. Runs before any other recording asks
 * for space.
 * @returns false if the recording is not decoded yet
 */
export function reserveForDecoded(checkpoints: Checkpoints, recordingId: string, room: WorkReservations): boolean {
  const finished = checkpoints.read("decode", 0, decodedSchema);
  if (finished === null) return false;
  keepRoom(recordingId, room, finished);
  return true;
}

/** Reserves disk space for the results of a recording whose decoded audio is already stored. */
function keepRoom(recordingId: string, room: WorkReservations, { sampleCount, tracks = 1 }: Decoded): void {
  const soundBytes = tracks * sampleCount * PCM_BYTES_PER_SAMPLE;
  room.reserveAnyway(recordingId, roomForResults(soundBytes), soundBytes);
}

/** Maps a file without decodable audio to `no_speech`, and every other fault to an internal failure. */
function failureOf(error: MediaError): RecordingFailure {
  if (error.fault === "not_a_recording") {
    return new RecordingFailure({ reason: "no_speech" }, error.message, { cause: error });
  }
  return new RecordingFailure({ reason: "internal", cause: error.fault }, error.message, { cause: error });
}

function tracksOf(paths: readonly string[], sampleCount: number): Track[] {
  return paths.map((path, index) => ({ index, isParty: paths.length > 1, pcm: { path, sampleCount } }));
}

/**
 * Reports whether the tracks' files are unchanged since they were written. They may be damaged or missing after a power
 * failure or a manual cleanup.
 */
async function areWhole(tracks: readonly Track[], digests: Decoded["digests"], signal: AbortSignal): Promise<boolean> {
  const isThere = ({ pcm }: Track) =>
    statSync(pcm.path, { throwIfNoEntry: false })?.size === pcm.sampleCount * PCM_BYTES_PER_SAMPLE;
  if (!tracks.every(isThere)) return false;
  if (digests === undefined) return true;
  for (const { index, pcm } of tracks) if ((await soundDigest(pcm.path, signal)) !== digests[index]) return false;
  return true;
}
