import { checkout } from "./checkout.ts";
import { outputOf } from "./output-of.ts";

/** An ffmpeg's own report about itself; null when it is not available. */
export interface FfmpegWords {
  /** Begins with `ffmpeg version …`, followed by its configuration. */
  readonly made: string | null;
  readonly licence: string | null;
}

/** Runs an ffmpeg on this machine and returns its report. */
export async function askFfmpeg(path: string): Promise<FfmpegWords> {
  return {
    made: await outputOf([path, "-hide_banner", "-version"], checkout),
    licence: await outputOf([path, "-hide_banner", "-L"], checkout),
  };
}
