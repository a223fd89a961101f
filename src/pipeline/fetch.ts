import { type AllowList, FetchError, fetchRecording } from "../media/index.ts";
import type { RoomClaim } from "../storage/index.ts";
import { RecordingFailure } from "./step.ts";

export interface FetchOptions {
  readonly allow: AllowList;
  readonly maxBytes: number;
  readonly timeoutSeconds: number;
  readonly stallSeconds: number;
  readonly userAgent: string;
  /** Promises room on the disk, in bytes. @throws {MachineError} where there is none */
  readonly claimRoom: (bytes: number) => RoomClaim;
}

/**
 * fetch: the recording behind a link, into a file.
 * @returns its size in bytes
 * @throws {RecordingFailure} `internal`, with the true cause
 */
export async function fetchSource(
  url: string,
  outputPath: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<number> {
  try {
    const { sizeBytes } = await fetchRecording({
      url: new URL(url),
      outputPath,
      maxBytes: options.maxBytes,
      maxSeconds: options.timeoutSeconds,
      stallSeconds: options.stallSeconds,
      allow: options.allow,
      userAgent: options.userAgent,
      claimRoom: options.claimRoom,
      signal,
    });
    return sizeBytes;
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new RecordingFailure({ reason: "internal", cause: error.fault }, error.message, { cause: error });
  }
}
