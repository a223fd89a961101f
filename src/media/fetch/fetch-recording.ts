import { type AllowList, addressGuard, ownAddresses, type ResolveHost, resolveHost } from "../../addresses/index.ts";
import type { Reservation } from "../../disk/index.ts";
import { checkResponse } from "./check-content.ts";
import { followRedirects } from "./follow-redirects.ts";
import { storeBody } from "./store-body.ts";
import { TimeLimits } from "./time-limits.ts";

export interface FetchRequest {
  /** The link as checkRecordingUrl returned it. */
  readonly url: URL;
  /** Path of the recording. An existing file is replaced. Its folder must exist. */
  readonly outputPath: string;
  readonly maxBytes: number;
  /** Limit on the total time, redirects included; at most 24 days, a timer's maximum. See also TimeLimits. */
  readonly maxSeconds: number;
  /** Limit on each step up to the response, and on the time in which the next 16 KiB of the body must arrive. */
  readonly stallSeconds: number;
  readonly allow: AllowList;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /**
   * Reserves disk space before the body is written. Receives the announced size, or 0 if there is none. The reservation
   * is used up as the body arrives.
   * @throws {MachineError} if there is not enough disk space
   */
  readonly reserveSpace?: ((bytes: number) => Reservation) | undefined;
  /** Certificate authorities in PEM that are trusted in addition to the public ones, for hosts in private networks. */
  readonly authorities?: readonly string[] | undefined;
  /** Returns all addresses of a host. Default: the system's name resolution. */
  readonly resolve?: ResolveHost | undefined;
}

/**
 * Fetches a recording over http(s) into a file and returns its size in bytes. Connects only to public addresses and to
 * addresses that `allow` permits: every address that a host resolves to is checked, and so is each of at most five
 * redirects. When the promise resolves, the file exists and is synced; after any error, no file remains.
 * @throws the signal's reason after an abort, immediately and at any stage
 * @throws {MediaError} when the fetch fails
 */
export async function fetchRecording(request: FetchRequest): Promise<number> {
  const { outputPath, maxBytes } = request;
  using limits = new TimeLimits(request);
  try {
    const { response, host } = await followRedirects(request.url, {
      guard: addressGuard(request.allow, ownAddresses()),
      resolve: request.resolve ?? resolveHost,
      limits,
      userAgent: request.userAgent,
      authorities: request.authorities,
    });
    try {
      const announcedBytes = checkResponse(response, host, maxBytes) ?? 0;
      limits.announced(announcedBytes);
      using reservation = request.reserveSpace?.(announcedBytes);
      const onBytes = (bytes: number) => {
        limits.received(bytes);
        reservation?.written(bytes);
      };
      return await storeBody(response, { host, outputPath, maxBytes, signal: limits.signal, onBytes });
    } finally {
      response.destroy();
    }
  } catch (error) {
    // An abort of the signal is the original cause of any other error, so it is reported first.
    limits.signal.throwIfAborted();
    throw error;
  }
}
