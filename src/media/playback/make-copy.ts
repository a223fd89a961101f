import { existsSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import type { Recordings } from "../../recordings/index.ts";
import { type DataDirectory, type DiskSpace, syncDirectory } from "../../storage/index.ts";
import { encodeCopy, estimateCopyBytes } from "./encode-copy.ts";

export interface CopyResources {
  readonly recordings: Pick<Recordings, "get">;
  readonly dataDirectory: DataDirectory;
  readonly diskSpace: DiskSpace;
  readonly ffmpegPath: string;
  /** Returns the current limit on the length of a recording. */
  readonly maxSeconds: () => number;
}

/** Returns whether a recording and its upload, from which the copy is made, still exist. */
export function isStored({ recordings, dataDirectory }: CopyResources, id: string): boolean {
  return recordings.get(id) !== null && existsSync(dataDirectory.filesOf(id).upload);
}

/**
 * Makes a recording's playback copy. The copy appears complete, or not at all if the recording or its upload is removed
 * in the meantime.
 * @param onShare receives the completed fraction, 0 to 1
 * @throws {MediaError} when the recording cannot be encoded
 * @throws {MachineError} when the disk lacks space in addition to the space that is kept free for incoming recordings
 * @throws the signal's reason after an abort
 */
export async function makeCopy(
  resources: CopyResources,
  { id, durationSeconds }: { readonly id: string; readonly durationSeconds: number },
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { dataDirectory, diskSpace, ffmpegPath } = resources;
  const recordingFiles = dataDirectory.filesOf(id);
  const { directory: draft, ...files } = recordingFiles.playbackDraft;
  // A copy is optional, so it must not use the disk space that incoming recordings need.
  using reservation = diskSpace.reserve(estimateCopyBytes(durationSeconds), "intake");
  let writtenBytes = 0;
  const onProgress = (seconds: number) => {
    const now = statSync(files.audio, { throwIfNoEntry: false })?.size ?? 0;
    reservation.written(Math.max(0, now - writtenBytes));
    writtenBytes = Math.max(writtenBytes, now);
    onShare(Math.min(1, seconds / durationSeconds));
  };
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(draft, { mode: 0o700 });
    await encodeCopy({
      ...{ ffmpegPath, durationSeconds, onProgress, signal },
      inputPath: recordingFiles.upload,
      audioPath: files.audio,
      waveformPath: files.waveform,
      // A limit that was lowered after the recording was decoded must not change the times.
      maxSeconds: Math.max(resources.maxSeconds(), Math.ceil(durationSeconds)),
    });
    await syncDirectory(draft);
    const directory = recordingFiles.playback.directory;
    // The folder exists only if one of its files was removed.
    await rm(directory, { recursive: true, force: true });
    await rename(draft, directory);
    await syncDirectory(dataDirectory.playback);
  } finally {
    await rm(draft, { recursive: true, force: true });
    // A recording's upload is removed before its copy. A copy that is renamed into place after that is removed here.
    if (!isStored(resources, id)) await recordingFiles.removePlayback();
  }
}
