import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ContentDigest } from "./content-digest.ts";
import { FormReader } from "./form-reader.ts";
import { type PaceLimits, readAtPace, TooSlowError } from "./pace.ts";
import type { ReceivedUpload, RefusedUpload, UploadFailure } from "./upload-result.ts";
import type { UploadReservation } from "./upload-space.ts";

export interface UploadOptions {
  /** Where the file is written, under a new name. */
  readonly directory: string;
  readonly maxFileBytes: number;
  /** The most that is read of a body, parts and form together. */
  readonly maxBodyBytes: number;
  /** Told of the body's bytes as they come in. */
  readonly onBytes?: (count: number) => void;
  /** Disk space that the bytes take before they are written; the upload ends where there is no more. */
  readonly space?: Pick<UploadReservation, "take">;
  /** The slowest sender that is waited for. */
  readonly pace: PaceLimits;
}

/**
 * Receives a multipart/form-data body (RFC 7578) and streams its part `file` to disk; memory does not grow with it.
 *
 * The request must not have been parsed. A Content-Length over the limit is refused before a byte is read. After any other
 * failure but an aborted, too slow or too large one the rest of the body is read and thrown away at the same pace, since a
 * client that is still sending would take an early answer for a broken connection. Throws only what the file system throws,
 * a full disk excepted.
 *
 * Bun's idle timeout runs on while a body comes in (seen with 1.4.5), so it would end every upload that takes longer. The
 * caller must lift it for the request, `server.timeout(request, 0)`, and set it again before it answers, or the connection of
 * a sender that stopped in the middle stays open; the sender's pace is watched here.
 */
export async function receiveUpload(request: Request, options: UploadOptions): Promise<ReceivedUpload | RefusedUpload> {
  if (Number(request.headers.get("content-length") ?? 0) > options.maxBodyBytes)
    return refused({ kind: "body_too_large" });
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (boundary === null || request.body === null) return refused({ kind: "not_multipart" });

  const filePath = join(options.directory, `${randomUUID()}.part`);
  const form = new FormReader(`multipart/form-data; boundary="${boundary}"`, filePath, options.maxFileBytes);
  const digest = new ContentDigest(request.headers.get("content-digest"));
  const opening = new Opening(boundary);
  let bodyBytes = 0;
  try {
    for await (const bytes of readAtPace(request.body, options.pace)) {
      bodyBytes += bytes.byteLength;
      options.onBytes?.(bytes.byteLength);
      if (bodyBytes > options.maxBodyBytes) {
        form.fail({ kind: "body_too_large" });
        await form.close();
        return refused({ kind: "body_too_large" });
      }
      const lack = form.failure === undefined ? options.space?.take(bytes.byteLength) : null;
      if (lack) form.fail({ kind: lack });
      opening.update(bytes);
      digest.update(bytes);
      await form.write(bytes);
    }
  } catch (error) {
    // The body's stream itself throws for one reason: its sender is gone.
    const failure: UploadFailure = { kind: error instanceof TooSlowError ? "too_slow" : "aborted" };
    form.fail(failure);
    await form.close();
    return refused(failure);
  }

  const received = await form.close();
  if ("kind" in received) {
    const neverBegan = received.kind === "malformed" && !opening.isBoundary && !form.hasParts;
    return refused(neverBegan ? { kind: "not_multipart" } : received);
  }
  const dispose = async () => {
    if (received.file !== null) await rm(received.file.path, { force: true });
  };
  if (!digest.matches()) {
    await dispose();
    return refused({ kind: "digest_mismatch" });
  }
  return { ok: true, ...received, [Symbol.asyncDispose]: dispose };
}

function refused(failure: UploadFailure): RefusedUpload {
  return { ok: false, failure };
}

/** The boundary of a multipart/form-data Content-Type (RFC 2046, 5.1.1: 1 to 70 of these characters), null where there is none. */
function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType)) return null;
  const found = /;\s*boundary=(?:"([^"\\]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType);
  const boundary = found?.[1] ?? found?.[2] ?? "";
  return /^[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]$/.test(boundary) ? boundary : null;
}

/** Watches whether a body opens with its boundary, as a form does that was cut off before its first part was whole. */
class Opening {
  readonly #wanted: Buffer;
  #matched = 0;
  #differs = false;

  constructor(boundary: string) {
    this.#wanted = Buffer.from(`--${boundary}`);
  }

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.#matched < this.#wanted.length && !this.#differs; at++) {
      if (bytes[at] === this.#wanted[this.#matched]) this.#matched++;
      else this.#differs = true;
    }
  }

  get isBoundary(): boolean {
    return this.#matched === this.#wanted.length;
  }
}
