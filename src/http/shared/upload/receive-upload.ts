import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { UploadReservation } from "../../../intake/index.ts";
import { ContentDigest } from "./content-digest.ts";
import { type FormParts, FormReader, type ReceivedFile, type TextFields } from "./form-reader.ts";
import { type PaceLimits, readAtPace, TooSlowError } from "./pace.ts";
import type { UploadFailure } from "./upload-failure.ts";

export interface UploadOptions {
  /** The parts that are read. All other parts are ignored. */
  readonly parts: FormParts;
  /** Directory in which the file is written, under a new name. */
  readonly directory: string;
  readonly maxFileBytes: number;
  /** Maximum size of the whole body, parts and form together. */
  readonly maxBodyBytes: number;
  /** Called with the size of each chunk of the body as it arrives. */
  readonly onBytes?: (count: number) => void;
  /** Reservation of disk space. Bytes are reserved before they are written; the upload ends when no space is left. */
  readonly space?: Pick<UploadReservation, "extend">;
  /** Limits for slow senders. */
  readonly pace: PaceLimits;
}

/** A complete, well-formed upload. Disposing of it removes the file, unless it was renamed. */
export interface ReceivedUpload extends AsyncDisposable {
  readonly ok: true;
  readonly fields: TextFields;
  /** The text parts that may be repeated, with their values in order. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** The recording; null if there was none. */
  readonly file: ReceivedFile | null;
}

export interface RefusedUpload {
  readonly ok: false;
  readonly failure: UploadFailure;
}

/**
 * Receives a multipart/form-data body (RFC 7578) and streams its recording to disk, in constant memory. Reading ends
 * at once when the sender disconnects or is too slow, or when the body exceeds its limit. After any other failure, the
 * rest of the body is read and discarded: a client that is still sending would take an early answer for a broken
 * connection. Bun's idle timeout also runs while a body arrives (observed with 1.4.5). So the caller must lift it with
 * `server.timeout(request, 0)`, and set it again before it answers.
 * @throws errors of the file system, except that of a full disk
 */
export async function receiveUpload(request: Request, options: UploadOptions): Promise<ReceivedUpload | RefusedUpload> {
  if (Number(request.headers.get("content-length") ?? 0) > options.maxBodyBytes) {
    return refused({ kind: "body_too_large" });
  }
  const boundary = boundaryOf(request.headers.get("content-type"));
  if (boundary === null || request.body === null) return refused({ kind: "not_multipart" });

  const filePath = join(options.directory, `${randomUUID()}.part`);
  const contentType = `multipart/form-data; boundary="${boundary}"`;
  const form = new FormReader(contentType, options.parts, { path: filePath, maxBytes: options.maxFileBytes });
  const digest = new ContentDigest(request.headers.get("content-digest"));
  const delimiter = Buffer.from(`--${boundary}`);
  /** First bytes of the body, at most as many as the delimiter has. */
  let opening = Buffer.alloc(0);
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
      const refusal = form.failure === undefined ? options.space?.extend(bytes.byteLength) : null;
      if (refusal) form.fail({ kind: refusal });
      opening = Buffer.concat([opening, bytes.subarray(0, delimiter.length - opening.length)]);
      digest.update(bytes);
      await form.write(bytes);
    }
  } catch (error) {
    // The body's stream throws only when its sender has disconnected.
    const failure: UploadFailure = { kind: error instanceof TooSlowError ? "too_slow" : "aborted" };
    form.fail(failure);
    await form.close();
    return refused(failure);
  }

  const received = await form.close();
  if ("kind" in received) {
    // A form that was cut off before its first part was complete begins with the delimiter, too.
    const isForm = opening.equals(delimiter) || form.hasParts;
    return refused(received.kind === "malformed" && !isForm ? { kind: "not_multipart" } : received);
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

/**
 * Returns the boundary of a multipart/form-data Content-Type, or null if there is none. RFC 2046, 5.1.1 allows 1 to 70
 * of these characters.
 */
function boundaryOf(contentType: string | null): string | null {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType)) return null;
  const found = /;\s*boundary=(?:"([^"\\]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType);
  const boundary = found?.[1] ?? found?.[2] ?? "";
  return /^[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]$/.test(boundary) ? boundary : null;
}
