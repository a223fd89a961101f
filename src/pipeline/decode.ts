import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { type Static, Type } from "@sinclair/typebox";
import { machineTrouble, type WorkReservations } from "../disk/index.ts";
import {
  type DecodeSpace,
  decodeRecording,
  estimateResultBytes,
  PCM_BYTES_PER_SAMPLE,
  PCM_SAMPLE_RATE_HZ,
  pcmDigest,
} from "../media/index.ts";
import { Checkpoints } from "../recordings/index.ts";
import type { DecodeOptions, PipelineServices } from "./services.ts";
import { RecordingFailure, type StepContext, withMediaFailure } from "./step.ts";
import type { Track } from "./tracks.ts";

const decodedSchema = Type.Object({
  sampleCount: Type.Integer({ minimum: 0 }),
  /** A missing value means 1. */
  tracks: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
  /** The digest of each track's file; earlier versions stored none. */
  digests: Type.Optional(Type.Array(Type.String())),
  /** The file's audio track, from 1, and the number of them; earlier versions stored none. */
  audioTrack: Type.Optional(Type.Integer({ minimum: 1 })),
  audioTracks: Type.Optional(Type.Integer({ minimum: 1 })),
});
type Decoded = Static<typeof decodedSchema>;

/**
 * Measured size of the decoded audio, the checkpoint `room`. Stored if the header declared less, or too much for the
 * disk.
 */
const measuredSchema = Type.Object({ bytes: Type.Integer({ minimum: 0 }) });

/** Minimum length of a recording in the API contract, in seconds. */
const MIN_SECONDS = 0.5;

/**
 * Runs the step `decode`: converts the recording to 16 kHz mono PCM. A call with a separate channel for each party
 * becomes two tracks. Disk space for all work files is reserved before decoding and held until the recording ends.
 * @throws {RecordingFailure} `no_speech` if there is no audio, `too_short`, or `internal` with the decoder's fault
 */
export async function decode(context: StepContext, options: DecodeOptions): Promise<Track[]> {
  const { recording, files, checkpoints, signal } = context;
  const { ffmpegPath, maxSeconds, onProbed, onTrack, reservations, audio } = options;
  const [path, secondPath] = [files.pcm(0), files.pcm(1)];
  const finished = checkpoints.read("decode", 0, decodedSchema);
  if (finished !== null) {
    const tracks = tracksOf([path, secondPath].slice(0, finished.tracks ?? 1), finished.sampleCount);
    if (await areIntact(tracks, finished.digests, signal)) {
      reserveForResults(recording.id, reservations, finished);
      const { audioTrack, audioTracks } = finished;
      if (audioTrack !== undefined && audioTracks !== undefined) onTrack?.({ audioTrack, audioTracks });
      return tracks;
    }
  }
  context.progress(null);
  // The remaining files would occupy disk space that the reservation may need.
  for (const remaining of [path, secondPath]) await rm(remaining, { force: true });
  // A rerun has no audio of its own.
  await using upload = await audio.open(recording.rerunOf ?? recording.id);
  const { sampleCount, paths, trackIndex, trackCount, damaged, declaredSeconds } = await decodeRecording({
    ...{ ffmpegPath, maxSeconds, onProbed, signal },
    // Without a file, ffmpeg's error is that of a file that can't be read.
    inputPath: upload?.path ?? "",
    outputPath: path,
    secondOutputPath: secondPath,
    space: spaceOf(context, upload?.diskBytes ?? 0, reservations),
    onProgress: context.progress,
  }).catch((error: unknown) => {
    reservations.release(recording.id);
    throw withMediaFailure(error);
  });
  const chosen = { audioTrack: trackIndex + 1, audioTracks: trackCount };
  onTrack?.(chosen);
  if (damaged) {
    const decodedSeconds = sampleCount / PCM_SAMPLE_RATE_HZ;
    context.log.warn({ event: "recording.damaged", recordingId: recording.id, decodedSeconds, declaredSeconds });
  }
  if (sampleCount === 0) throw new RecordingFailure({ reason: "no_speech" }, "the recording has no decodable audio");
  if (sampleCount < MIN_SECONDS * PCM_SAMPLE_RATE_HZ) {
    throw new RecordingFailure({ reason: "too_short" }, `the recording has ${sampleCount} samples`);
  }
  const digests: string[] = [];
  for (const each of paths) digests.push((await pcmDigest(each, signal)) ?? "");
  const decoded = { sampleCount, tracks: paths.length, digests, ...chosen };
  checkpoints.write("decode", 0, decodedSchema, decoded);
  reserveForResults(recording.id, reservations, decoded);
  return tracksOf(paths, sampleCount);
}

function spaceOf(
  { recording, checkpoints }: StepContext,
  uploadBytes: number,
  reservations: WorkReservations,
): DecodeSpace {
  return {
    measuredBytes: checkpoints.read("room", 0, measuredSchema)?.bytes ?? null,
    storeMeasured: (bytes) => checkpoints.write("room", 0, measuredSchema, { bytes }),
    couldHold: (bytes) => reservations.couldFit(uploadBytes + bytes + estimateResultBytes(bytes)),
    reserve: (bytes) => reservations.reserve(recording.id, bytes + estimateResultBytes(bytes)),
    written: (bytes) => reservations.written(recording.id, bytes),
  };
}

/** Reserves disk space for the results of a recording whose decoded audio is already stored. */
function reserveForResults(
  recordingId: string,
  reservations: WorkReservations,
  { sampleCount, tracks = 1 }: Decoded,
): void {
  const pcmBytes = tracks * sampleCount * PCM_BYTES_PER_SAMPLE;
  reservations.reserveAnyway(recordingId, estimateResultBytes(pcmBytes), pcmBytes);
}

/**
 * Recovers the work of an earlier server before any recording is processed: reserves disk space for recordings with
 * decoded audio, and removes the files of interrupted decodes.
 */
export async function recoverWork({
  store,
  recordings,
  dataDirectory,
  workReservations,
}: Pick<PipelineServices, "store" | "recordings" | "dataDirectory" | "workReservations">): Promise<void> {
  const { processing, queued } = recordings.open.list();
  const interrupted: string[] = [];
  for (const { id } of [...processing, ...queued]) {
    const decoded = new Checkpoints(store, id).read("decode", 0, decodedSchema);
    if (decoded === null) interrupted.push(id);
    else reserveForResults(id, workReservations, decoded);
  }
  try {
    for (const id of interrupted) await dataDirectory.filesOf(id).removeWork();
  } catch (error) {
    // If the disk cannot be written, the remaining files do no harm.
    if (machineTrouble(error) === null) throw error;
  }
}

function tracksOf(paths: readonly string[], sampleCount: number): Track[] {
  return paths.map((path, index) => ({ index, isParty: paths.length > 1, pcm: { path, sampleCount } }));
}

/** Returns whether the tracks' files are as they were written; a power failure may have damaged them. */
async function areIntact(tracks: readonly Track[], digests: Decoded["digests"], signal: AbortSignal): Promise<boolean> {
  const isComplete = ({ pcm }: Track) =>
    statSync(pcm.path, { throwIfNoEntry: false })?.size === pcm.sampleCount * PCM_BYTES_PER_SAMPLE;
  if (!tracks.every(isComplete)) return false;
  if (digests === undefined) return true;
  for (const { index, pcm } of tracks) if ((await pcmDigest(pcm.path, signal)) !== digests[index]) return false;
  return true;
}
