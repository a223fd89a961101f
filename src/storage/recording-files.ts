import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

/** A recording's playback copy for a browser. Either both files exist or neither. */
export interface PlaybackFiles {
  readonly directory: string;
  /** Opus in WebM, mono, with cues. */
  readonly audio: string;
  readonly waveform: string;
}

/**
 * The files that are made from the audio of one recording. Nothing else joins their paths.
 *
 * The constructor takes an id from anywhere, and creates nothing.
 */
export class RecordingFiles {
  /** The files of steps. They exist while the recording is open, and are removed when it is terminal. */
  readonly work: string;
  /** The playback copy, which is made from the audio and removed with it. */
  readonly playback: PlaybackFiles;
  /** The playback copy that is being made. */
  readonly playbackDraft: PlaybackFiles;

  /** @throws {RangeError} when the id is not a UUID, because its path could lead elsewhere */
  constructor({ work, playback }: Readonly<Record<"work" | "playback", string>>, id: string) {
    if (!isRecordingId(id)) throw new RangeError("a recording's files are named by its id, a UUID; this is none");
    this.work = join(work, id);
    this.playback = playbackFiles(join(playback, id), null);
    this.playbackDraft = playbackFiles(join(playback, `${id}.part`), null);
  }

  /**
   * Returns the files of the copy of an audio track, and those while it is being made. A rerun may choose another track,
   * so the name has its number, and a copy of the former track is none of this one.
   * @param track number of the track from 1; null if there are no others
   */
  playbackOf(track: number | null): { readonly playback: PlaybackFiles; readonly draft: PlaybackFiles } {
    return {
      playback: playbackFiles(this.playback.directory, track),
      draft: playbackFiles(this.playbackDraft.directory, track),
    };
  }

  /** Creates the directory of step files. */
  prepareWork(): void {
    mkdirSync(this.work, { recursive: true, mode: 0o700 });
  }

  /** Returns the path of a track's PCM. The second track of a call is the other party. */
  pcm(track: 0 | 1): string {
    return join(this.work, track === 0 ? "audio.pcm" : "audio-1.pcm");
  }

  /** Returns the directory of a track's block files, and creates it; the first track uses the directory itself. */
  trackDirectory(track: number): string {
    if (track === 0) return this.work;
    const directory = join(this.work, `track-${track}`);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return directory;
  }

  /** Removes the files of steps. A recording of several days has thousands of them. */
  async removeWork(): Promise<void> {
    await rm(this.work, { recursive: true, force: true });
  }

  /** Removes the playback copy, including one that is being made. */
  async removePlayback(): Promise<void> {
    for (const { directory } of [this.playbackDraft, this.playback]) {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

function playbackFiles(directory: string, track: number | null): PlaybackFiles {
  const audio = join(directory, track === null ? "audio.webm" : `audio-${track}.webm`);
  return { directory, audio, waveform: join(directory, "waveform") };
}

/** Returns whether a name is the id of a recording, a UUID. No other name becomes part of a path. */
export function isRecordingId(name: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);
}
