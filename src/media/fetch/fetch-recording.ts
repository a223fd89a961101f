import type { RoomClaim } from "../../storage/index.ts";
import { addressGuard, ownAddresses } from "./address-guard.ts";
import type { AllowList } from "./allow-list.ts";
import { checkAnswer } from "./check-answer.ts";
import { followRedirects } from "./follow-redirects.ts";
import { type ResolveHost, resolveHost } from "./guarded-lookup.ts";
import { storeBody } from "./store-body.ts";
import { TimeLimits } from "./time-limits.ts";

export interface FetchRequest {
  /** As checkRecordingUrl gave it. */
  readonly url: URL;
  /** Where the recording goes; replaced if it is there. Its folder exists. */
  readonly outputPath: string;
  readonly maxBytes: number;
  /**
   * Limit on everything together, redirects included; at most 24 days, which is what a timer can hold. A small recording has
   * less, see TimeLimits.
   */
  readonly maxSeconds: number;
  /** Limit on each step up to the answer, and on the time in which the body brings its next 16 KiB. */
  readonly stallSeconds: number;
  readonly allow: AllowList;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /** Called at every whole percent with 0 to 1; once with null where the size is not announced. */
  readonly onProgress?: ((fraction: number | null) => void) | undefined;
  /** Called with the announced size, 0 for none, before the body is written; takes the disk space as the body arrives. */
  readonly claimRoom?: ((bytes: number) => RoomClaim) | undefined;
  /** Certificate authorities in PEM that are trusted beside the public ones: those of hosts inside walls. */
  readonly authorities?: readonly string[] | undefined;
  /** All addresses of a host; the system's look-up unless given. */
  readonly resolve?: ResolveHost | undefined;
}

export interface FetchedRecording {
  readonly sizeBytes: number;
  /** The host that sent it, after all redirects. */
  readonly host: string;
}

/**
 * Fetches a recording over http(s) into a file. Only public addresses are connected to, and those that `allow` opens: every
 * address that a host resolves to is checked, the connection goes to a checked address, and each of at most five redirects
 * is treated like the first link. The file is there, synced, when this resolves; whatever else happens, nothing is left.
 *
 * Throws the signal's reason after an abort, at once and in whatever stage, else FetchError.
 */
export async function fetchRecording(request: FetchRequest): Promise<FetchedRecording> {
  using limits = new TimeLimits(request);
  try {
    const { answer, host } = await followRedirects(request.url, {
      guard: addressGuard(request.allow, ownAddresses()),
      resolve: request.resolve ?? resolveHost,
      limits,
      userAgent: request.userAgent,
      authorities: request.authorities,
    });
    try {
      const announced = checkAnswer(answer, host, request.maxBytes);
      if (announced !== null) limits.announced(announced);
      const progress = percentSteps(announced, request.onProgress);
      using room = request.claimRoom?.(announced ?? 0);
      const sizeBytes = await storeBody(answer, {
        host,
        outputPath: request.outputPath,
        maxBytes: request.maxBytes,
        signal: limits.signal,
        onBytes: (pieceBytes, size) => {
          limits.received(pieceBytes);
          room?.written(pieceBytes);
          progress(size);
        },
      });
      return { sizeBytes, host };
    } finally {
      answer.destroy();
    }
  } catch (error) {
    // Whatever broke in consequence, this is why.
    limits.signal.throwIfAborted();
    throw error;
  }
}

function percentSteps(
  announcedBytes: number | null,
  onProgress: FetchRequest["onProgress"],
): (sizeBytes: number) => void {
  if (announcedBytes === null || announcedBytes === 0) {
    onProgress?.(null);
    return () => {};
  }
  let last = -1;
  return (sizeBytes) => {
    const percent = Math.floor((100 * sizeBytes) / announcedBytes);
    if (percent === last) return;
    last = percent;
    onProgress?.(sizeBytes / announcedBytes);
  };
}
