import { lstatSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
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
import type { WorkRoom } from "../storage/index.ts";
import { RecordingFailure, type StepContext } from "./step.ts";
import type { Track } from "./tracks.ts";

const decodedSchema = Type.Object({
  sampleCount: Type.Integer({ minimum: 0 }),
  /** One where it is missing. */
  tracks: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
  /** Of each track's file; earlier versions kept none. */
  digests: Type.Optional(Type.Array(Type.String())),
});

type Decoded = Static<typeof decodedSchema>;

/** Bytes that a decode turned out to take, where its header told of less or of more than the disk holds. */
const measuredSchema = Type.Object({ bytes: Type.Integer({ minimum: 0 }) });

/** The contract's least length of a recording. */
const minSeconds = 0.5;

export interface DecodeOptions {
  readonly ffmpegPath: string;
  readonly maxSeconds: number;
  readonly room: WorkRoom;
  /** Called with the container's length before anything is decoded; what it throws ends the step. */
  readonly onProbed: (declaredSeconds: number | null) => void;
}

/**
 * decode: the recording as 16 kHz mono PCM; a call with a channel for each party as two tracks. Room for all its work files is
 * promised before, and held until it ends.
 * @throws {RecordingFailure} `no_speech` for no audio at all, `too_short`, or `internal` with the decoder's fault
 */
export async function decode(context: StepContext, options: DecodeOptions): Promise<Track[]> {
  const path = join(context.workDirectory, "audio.pcm");
  const secondPath = join(context.workDirectory, "audio-1.pcm");
  const finished = context.checkpoints.read("decode", 0, decodedSchema);
  if (finished !== null) {
    const tracks = tracksOf([path, secondPath].slice(0, finished.tracks ?? 1), finished.sampleCount);
    if (await areWhole(tracks, finished.digests, context.signal)) {
      keepRoom(context.recording.id, options.room, finished);
      return tracks;
    }
  }
  context.progress(null);
  // They take room that may be asked for.
  for (const left of [path, secondPath]) await rm(left, { force: true });
  const { sampleCount, paths, damaged, declaredSeconds } = await decodeRecording({
    ffmpegPath: options.ffmpegPath,
    inputPath: context.uploadPath,
    outputPath: path,
    secondOutputPath: secondPath,
    maxSeconds: options.maxSeconds,
    room: roomOf(context, options.room),
    onProbed: options.onProbed,
    onProgress: context.progress,
    signal: context.signal,
  }).catch((error: unknown) => {
    options.room.giveBack(context.recording.id);
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

function roomOf({ recording, uploadPath, checkpoints }: StepContext, room: WorkRoom): DecodeRoom {
  // An upload may be a link to a file elsewhere, which takes no room here.
  const uploadBytes = lstatSync(uploadPath, { throwIfNoEntry: false })?.size ?? 0;
  return {
    measured: checkpoints.read("room", 0, measuredSchema)?.bytes ?? null,
    keepMeasured: (bytes) => checkpoints.write("room", 0, measuredSchema, { bytes }),
    couldHold: (bytes) => room.couldHold(uploadBytes + bytes + roomForResults(bytes)),
    claim(bytes) {
      room.promise(recording.id, bytes + roomForResults(bytes));
      return { written: (count) => room.written(recording.id, count) };
    },
  };
}

/**
 * Promises room, before any other recording asks, to one whose sound an earlier server has decoded.
 * @returns false where none has
 */
export function keepRoomOfDecoded(checkpoints: Checkpoints, recordingId: string, room: WorkRoom): boolean {
  const finished = checkpoints.read("decode", 0, decodedSchema);
  if (finished === null) return false;
  keepRoom(recordingId, room, finished);
  return true;
}

/** What is promised to a recording from here on: its sound is there, what is found in it is to come. */
function keepRoom(recordingId: string, room: WorkRoom, { sampleCount, tracks = 1 }: Decoded): void {
  const soundBytes = tracks * sampleCount * PCM_BYTES_PER_SAMPLE;
  room.grant(recordingId, roomForResults(soundBytes), soundBytes);
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

/** Whether the tracks' files are as they were written, so that they may be relied on after a power cut, or where somebody cleared up. */
async function areWhole(tracks: readonly Track[], digests: Decoded["digests"], signal: AbortSignal): Promise<boolean> {
  const isThere = ({ pcm }: Track) =>
    statSync(pcm.path, { throwIfNoEntry: false })?.size === pcm.sampleCount * PCM_BYTES_PER_SAMPLE;
  if (!tracks.every(isThere)) return false;
  if (digests === undefined) return true;
  for (const { index, pcm } of tracks) if ((await soundDigest(pcm.path, signal)) !== digests[index]) return false;
  return true;
}
