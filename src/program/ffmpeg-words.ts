import { checkout } from "./checkout.ts";
import { outputOf } from "./output-of.ts";

/** What an ffmpeg says of itself; null where it can't be had. */
export interface FfmpegWords {
  /** Begins with `ffmpeg version …`; then how it was configured. */
  readonly made: string | null;
  readonly licence: string | null;
}

/** Asks an ffmpeg that runs here. */
export async function askFfmpeg(path: string): Promise<FfmpegWords> {
  return {
    made: await outputOf([path, "-hide_banner", "-version"], checkout),
    licence: await outputOf([path, "-hide_banner", "-L"], checkout),
  };
}
