import { renameSync, rmSync } from "node:fs";
import type { Account } from "../accounts/index.ts";
import { newRecordingId, type Recording, type RecordingQueue } from "../recordings/index.ts";
import type { Language } from "../speech/index.ts";
import { type DataDirectory, type Store, syncDirectoryNow } from "../storage/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { requireAccess } from "./access.ts";
import { type CheckUrl, languageOf, type Source, sourceOf, withoutExtension } from "./create-fields.ts";
import { hintsOf } from "./create-hints.ts";
import { type CreateLimitServices, CreateLimits, type UploadPlace } from "./create-limits.ts";
import { ApiError } from "./errors.ts";
import { type ExamineServices, UploadExaminer } from "./examine-upload.ts";
import { fingerprintOf, Idempotency, IdempotentCreate } from "./idempotency.ts";
import { callerOf, contextOf } from "./request-context.ts";
import { locationOf, toTranscription } from "./resources.ts";
import {
  type PaceLimits,
  type ReceivedUpload,
  receiveUpload,
  toUploadError,
  UPLOAD_PACE,
  UploadSpace,
} from "./upload/index.ts";

interface CreateServices extends ExamineServices, CreateLimitServices {
  readonly store: Store;
  readonly queue: Pick<RecordingQueue, "add">;
  readonly dataDirectory: DataDirectory;
  /** Returns the speech model in use and its languages. */
  readonly speechModel: () => { readonly id: string; readonly languages: readonly Language[] };
  readonly fetchEnabled: () => boolean;
  readonly checkUrl: CheckUrl;
  readonly metrics: Metrics;
  /** Returns the reason why no work is accepted now, as text for people; null if work is accepted. */
  readonly refusal: () => string | null;
  /** Limits for slow senders; the contract's limits by default. */
  readonly pace?: PaceLimits;
}

/** The account for which a recording is created. */
interface Sender {
  readonly account: Account;
  /** Workspace of the recording; null: none. */
  readonly workspaceId: string | null;
  /**
   * Repeats the access checks made before the upload, which may have taken hours.
   * @throws what the first check throws
   */
  requireAccess(): void;
}

/** A create in progress, and the resources that it holds until it is answered. */
interface Create {
  readonly request: Request;
  readonly sender: Sender;
  readonly idempotent: IdempotentCreate;
  readonly place: UploadPlace;
}

/** Allowance for the parts of a body besides its recording, and for the multipart form itself. */
const BODY_ALLOWANCE_BYTES = 64 * 1024 * 1024;

/**
 * Handles POST /transcriptions from the first byte to the answer, in the contract's order: size, Idempotency-Key, rate
 * limits, concurrency, body, fields, fingerprint. A refused create leaves nothing behind.
 */
export class TranscriptionCreator {
  readonly #services: CreateServices;
  readonly #limits: CreateLimits;
  readonly #space: UploadSpace;
  readonly #idempotency: Idempotency;
  readonly #examiner: UploadExaminer;

  constructor(services: CreateServices) {
    this.#services = services;
    this.#limits = new CreateLimits(services);
    this.#space = new UploadSpace(services.diskSpace);
    this.#examiner = new UploadExaminer(services);
    this.#idempotency = new Idempotency(services.store, services.now);
  }

  /** Creates a recording from a request of the API. @throws {ApiError} */
  create(request: Request): Promise<Response> {
    const { store, now } = this.#services;
    const { key, account } = callerOf(request);
    const { workspaceId } = key;
    const sender: Sender = {
      account,
      workspaceId,
      requireAccess: () => requireAccess(store, key.id, now(), contextOf(request).origin),
    };
    return this.#create(request, sender, () =>
      this.#idempotency.begin(request, { accountId: account.id, workspaceId }),
    );
  }

  /**
   * Creates a recording on behalf of an account, for the operator. An Idempotency-Key is ignored.
   * @throws {ApiError}
   */
  createFor(sender: Sender, request: Request): Promise<Response> {
    return this.#create(request, sender, () => new IdempotentCreate());
  }

  async #create(request: Request, sender: Sender, begin: () => IdempotentCreate): Promise<Response> {
    const { account } = sender;
    const reason = this.#services.refusal();
    if (reason !== null) throw new ApiError("service_unavailable", reason, { headers: { "Retry-After": "10" } });
    const maxFileBytes = this.#services.limits().upload_bytes;
    // A body that can never be stored here is answered as too large: clients would retry a 503 again and again.
    const maxBodyBytes = Math.min(maxFileBytes + BODY_ALLOWANCE_BYTES, this.#space.capacityBytes);
    const announcedBytes = Number(request.headers.get("content-length") ?? 0) || 0;
    if (announcedBytes > maxBodyBytes) {
      throw toUploadError({ kind: "body_too_large" }, Math.min(maxFileBytes, maxBodyBytes));
    }
    const refusal = this.#space.refusal(account.id, announcedBytes);
    if (refusal !== null) throw toUploadError({ kind: refusal }, maxFileBytes);
    using idempotent = begin();
    using place = idempotent.isReplay ? this.#limits.admitReplay(account) : this.#limits.admit(request, account);
    using space = this.#space.reserve(account.id);
    const upload = await receiveUpload(request, {
      directory: this.#services.dataDirectory.incoming,
      maxFileBytes,
      maxBodyBytes,
      space,
      pace: this.#services.pace ?? UPLOAD_PACE,
      onBytes: (count) => this.#services.metrics.http.received(count),
    });
    const create = { request, sender, idempotent, place };
    if (!upload.ok) {
      // The content of a failed upload has no fingerprint. Its failure serves as one, by which a repeated request is
      // compared.
      const error = toUploadError(upload.failure, Math.min(maxFileBytes, maxBodyBytes));
      return this.#refuse(create, JSON.stringify(upload.failure), error);
    }
    await using received = upload;
    const fingerprint = fingerprintOf(received);
    if (idempotent.isReplay) {
      sender.requireAccess();
      return idempotent.replay(fingerprint);
    }
    try {
      return await this.#enter(create, received, fingerprint);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.#refuse(create, fingerprint, error);
    }
  }

  #refuse({ sender, idempotent }: Create, fingerprint: string, error: ApiError): Response {
    sender.requireAccess();
    if (idempotent.isReplay && error.status === 422) return idempotent.replay(fingerprint);
    idempotent.storeRefusal(fingerprint, error);
    throw error;
  }

  async #enter(create: Create, received: ReceivedUpload, fingerprint: string): Promise<Response> {
    const { request, sender, idempotent, place } = create;
    const { store, recordings, usage, queue, speechModel, checkUrl, fetchEnabled, now } = this.#services;
    const { account, workspaceId } = sender;
    const source = sourceOf(received, checkUrl, fetchEnabled());
    const model = speechModel();
    const language = languageOf(model.languages, received.fields.language);
    const hints = hintsOf(received.fields);
    if (source.type === "file") await this.#examiner.examine(source.file, account.id);
    // A client that has disconnected would never learn of the recording.
    if (request.signal.aborted) throw toUploadError({ kind: "aborted" }, 0);

    // No await from here to the insert: other creates may have used the remaining quota since this one began. Ids must
    // also be in the order in which recordings are inserted.
    sender.requireAccess();
    this.#limits.requireQuota(request, account);
    const id = newRecordingId(now());
    const values = {
      id,
      accountId: account.id,
      workspaceId,
      pinnedLanguage: language?.code ?? null,
      ...hints,
      speechModel: model.id,
      ...sourceColumns(source),
    };
    let body = "";
    const recording = this.#withFile(source, id, () =>
      recordings.create(values, (writer, created) => {
        usage.spendCreate(writer, account.id, now());
        body = JSON.stringify(toTranscription(store, created));
        idempotent.store({ fingerprint, status: 201, body, recordingId: id }, writer);
      }),
    );
    place.release();
    this.#limits.showQuota(request, account);
    queue.add(recording);
    const headers = { "Content-Type": "application/json;charset=utf-8", Location: locationOf(id) };
    return new Response(body, { status: 201, headers });
  }

  /**
   * Moves the file to its final path before the recording is inserted. A file without a recording is removed at the
   * next start, or at once when the insert fails.
   */
  #withFile(source: Source, id: string, enter: () => Recording): Recording {
    if (source.type === "url") return enter();
    const { dataDirectory } = this.#services;
    try {
      renameSync(source.file.path, dataDirectory.filesOf(id).upload);
      syncDirectoryNow(dataDirectory.uploads);
      return enter();
    } catch (error) {
      rmSync(dataDirectory.filesOf(id).upload, { force: true });
      throw error;
    }
  }
}

function sourceColumns(source: Source): Pick<Recording, "sourceName" | "sourceUrl" | "sizeBytes"> {
  return source.type === "file"
    ? { sourceName: withoutExtension(source.file.name), sourceUrl: null, sizeBytes: source.file.sizeBytes }
    : { sourceName: null, sourceUrl: source.url, sizeBytes: null };
}
