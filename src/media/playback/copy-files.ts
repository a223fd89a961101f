import { existsSync } from "node:fs";
import { join } from "node:path";

/** The files of a recording's playback copy. Either both exist or neither. */
export interface CopyFiles {
  /** Opus in WebM, mono, with cues. */
  readonly audio: string;
  /** See readWaveform. */
  readonly waveform: string;
}

export function copyFilesIn(directory: string): CopyFiles {
  return { audio: join(directory, "audio.webm"), waveform: join(directory, "waveform") };
}

export function areThere(files: CopyFiles): boolean {
  return existsSync(files.audio) && existsSync(files.waveform);
}
