import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { RoomClaim } from "../../storage/index.ts";
import { ContentDigest } from "./content-digest.ts";
import { FormReader } from "./form-reader.ts";
import type { ReceivedUpload, RefusedUpload, UploadFailure } from "./upload-result.ts";

export interface UploadOptions {
  /** Where the file is written, under a new name. */
  readonly directory: string;
  readonly maxFileBytes: number;
  /** The most that is read of a body, parts and form together. */
  readonly maxBodyBytes: number;
  /** Told of the body's bytes as they come in. */
  readonly onBytes?: (count: number) => void;
  /** Promised room on the disk; the upload ends where there is no more. */
  readonly room?: Pick<RoomClaim, "written">;
  /** How long a sender may take over 16 KiB before it counts as gone; a minute where it is left out. */
  readonly maxSilenceSeconds?: number;
}

const DEFAULT_MAX_SILENCE_SECONDS = 60;
/** A twentieth of what the slowest modem sends in a minute; who sends less holds a place and a file open for days. */
const LEAST_BYTES = 16 * 1024;

/**
 * Receives a multipart/form-data body (RFC 7578) and streams its part `file` to disk; memory does not grow with it.
 *
 * The request must not have been parsed. A Content-Length over the limit is refused before a byte is read. After any other
 * failure but an aborted or too large one the rest of the body is read and thrown away, since a client that is still
 * sending would take an early answer for a broken connection. Throws only what the file system throws, a full disk excepted.
 *
 * Bun's idle timeout runs on while a body comes in (seen with 1.4.5), so it would end every upload that takes longer. The
 * caller must lift it for the request, `server.timeout(request, 0)`, and set it again before it answers, or the connection of
 * a sender that stopped in the middle stays open; silence is watched here.
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
    for await (const bytes of heard(request.body, options.maxSilenceSeconds ?? DEFAULT_MAX_SILENCE_SECONDS)) {
      bodyBytes += bytes.byteLength;
      options.onBytes?.(bytes.byteLength);
      if (bodyBytes > options.maxBodyBytes) {
        form.fail({ kind: "body_too_large" });
        await form.close();
        return refused({ kind: "body_too_large" });
      }
      if (!hasRoom(options.room, bytes.byteLength)) form.fail({ kind: "disk_full" });
      opening.update(bytes);
      digest.update(bytes);
      await form.write(bytes);
    }
  } catch {
    // The body's stream throws for one reason: its sender is gone.
    form.fail({ kind: "aborted" });
    await form.close();
    return refused({ kind: "aborted" });
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

/**
 * The chunks of a body; throws when too little comes for too long. The time that the reader takes over a chunk doesn't count.
 */
async function* heard(body: ReadableStream<Uint8Array>, maxSilenceSeconds: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let patience = maxSilenceSeconds * 1000;
  let bytes = 0;
  try {
    for (;;) {
      const silence = Promise.withResolvers<never>();
      const since = performance.now();
      const timer = setTimeout(() => silence.reject(new Error("the sender fell silent")), Math.max(0, patience));
      const { done, value } = await Promise.race([reader.read(), silence.promise]).finally(() => clearTimeout(timer));
      if (done) return;
      patience -= performance.now() - since;
      bytes += value.byteLength;
      if (bytes >= LEAST_BYTES) {
        patience = maxSilenceSeconds * 1000;
        bytes = 0;
      }
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function hasRoom(room: UploadOptions["room"], bytes: number): boolean {
  try {
    room?.written(bytes);
    return true;
  } catch {
    return false;
  }
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
