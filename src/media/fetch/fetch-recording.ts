import type { Reservation } from "../../storage/index.ts";
import { addressGuard, ownAddresses } from "./address-guard.ts";
import type { AllowList } from "./allow-list.ts";
import { checkAnswer } from "./check-answer.ts";
import { followRedirects } from "./follow-redirects.ts";
import { type ResolveHost, resolveHost } from "./guarded-lookup.ts";
import { storeBody } from "./store-body.ts";
import { TimeLimits } from "./time-limits.ts";

export interface FetchRequest {
  /** The link as checkRecordingUrl returned it. */
  readonly url: URL;
  /** Path of the recording. An existing file is replaced. Its folder must exist. */
  readonly outputPath: string;
  readonly maxBytes: number;
  /**
   * Limit on the total time, redirects included; at most 24 days, the maximum of a timer. A small recording has a
   * shorter limit, see TimeLimits.
   */
  readonly maxSeconds: number;
  /** Limit on each step up to the response, and on the time in which the next 16 KiB of the body must arrive. */
  readonly stallSeconds: number;
  readonly allow: AllowList;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /** Called at every whole percent with 0 to 1. Called once with null if the size is not announced. */
  readonly onProgress?: ((fraction: number | null) => void) | undefined;
  /**
   * Reserves disk space before the body is written. Receives the announced size, or 0 if there is none. The reservation
   * is used up as the body arrives.
   */
  readonly reserveSpace?: ((bytes: number) => Reservation) | undefined;
  /** Certificate authorities in PEM that are trusted in addition to the public ones, for hosts in private networks. */
  readonly authorities?: readonly string[] | undefined;
  /** Returns all addresses of a host. Default: the system's name resolution. */
  readonly resolve?: ResolveHost | undefined;
}

export interface FetchedRecording {
  readonly sizeBytes: number;
  /** The host that sent the recording, after all redirects. */
  readonly host: string;
}

/**
 * Fetches a recording over http(s) into a file. Connects only to public addresses and to addresses that `allow`
 * permits. Every address that a host resolves to is checked, and the connection goes to a checked address. Each of at
 * most five redirects is checked like the first link. When the promise resolves, the file exists and is synced; after
 * any error, no file remains.
 *
 * @throws the signal's reason after an abort, immediately and at any stage
 * @throws {FetchError} when the fetch fails
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
      using room = request.reserveSpace?.(announced ?? 0);
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
    // An abort of the signal is the original cause of any other error, so it is reported first.
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
