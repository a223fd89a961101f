import { existsSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import type { Recordings } from "../../recordings/index.ts";
import { type DataDirectory, type DiskRoom, syncDirectory } from "../../storage/index.ts";
import { copyFilesIn } from "./copy-files.ts";
import { makeListeningCopy, roomForListening } from "./make-listening-copy.ts";

/** What copies are made with. */
export interface Workplace {
  readonly recordings: Pick<Recordings, "get">;
  readonly dataDirectory: DataDirectory;
  readonly room: DiskRoom;
  readonly ffmpegPath: string;
  /** The longest recording that is taken now. */
  readonly maxSeconds: () => number;
}

/** Whether a recording and its upload are there, of which copies are made. */
export function isKept({ recordings, dataDirectory }: Workplace, id: string): boolean {
  return recordings.get(id) !== null && existsSync(dataDirectory.uploadPath(id));
}

/**
 * Makes a recording's copy, which appears whole or not at all, and not where the recording or its upload went meanwhile.
 * @param durationSeconds as it was decoded
 * @param onShare told of the share done, 0 to 1
 * @throws {MediaError} @throws {MachineError} where the disk has no room beside what recordings that come in must leave
 * @throws the signal's reason
 */
export async function makeCopy(
  workplace: Workplace,
  { id, durationSeconds }: { readonly id: string; readonly durationSeconds: number },
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { dataDirectory, room, ffmpegPath } = workplace;
  const draft = dataDirectory.listeningDraft(id);
  const files = copyFilesIn(draft);
  // A copy can be done without: it leaves recordings that come in their room.
  using claim = room.claim(roomForListening(durationSeconds), "intake");
  let writtenBytes = 0;
  const onProgress = (seconds: number) => {
    const now = statSync(files.audio, { throwIfNoEntry: false })?.size ?? 0;
    claim.written(Math.max(0, now - writtenBytes));
    writtenBytes = Math.max(writtenBytes, now);
    onShare(Math.min(1, seconds / durationSeconds));
  };
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(draft, { mode: 0o700 });
    await makeListeningCopy({
      ...{ ffmpegPath, durationSeconds, onProgress, signal },
      inputPath: dataDirectory.uploadPath(id),
      audioPath: files.audio,
      waveformPath: files.waveform,
      // A limit that was lowered since must not change the times.
      maxSeconds: Math.max(workplace.maxSeconds(), Math.ceil(durationSeconds)),
    });
    await syncDirectory(draft);
    const place = dataDirectory.listeningDirectory(id);
    // It is there only where one of its files was taken away.
    await rm(place, { recursive: true, force: true });
    await rename(draft, place);
    await syncDirectory(dataDirectory.listening);
  } finally {
    await rm(draft, { recursive: true, force: true });
    // A recording's upload is removed before its copy; a copy that got its name after that is removed here.
    if (!isKept(workplace, id)) await dataDirectory.removeListeningAside(id);
  }
}
