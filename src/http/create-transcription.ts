import { renameSync, rmSync } from "node:fs";
import { type Account, type AccountLimits, createWindows, parseAccountLimits, type Usage } from "../accounts/index.ts";
import {
  newRecordingId,
  type Recording,
  type RecordingQueue,
  type Recordings,
  StoredAnswers,
} from "../recordings/index.ts";
import type { Language } from "../speech/index.ts";
import { type DataDirectory, type Store, syncDirectoryNow } from "../storage/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import { basePath, requireAccess } from "./access.ts";
import { type CheckUrl, languageOf, type Source, sourceOf, withoutExtension } from "./create-fields.ts";
import { ApiError } from "./errors.ts";
import { type ExamineServices, UploadExaminer } from "./examine-upload.ts";
import { fingerprintOf, Idempotency, type IdempotentCreate, replay, unkept } from "./idempotency.ts";
import { type RateLimit, rateLimited } from "./rate-limits.ts";
import { callerOf, contextOf } from "./request-context.ts";
import { toTranscription } from "./resources.ts";
import {
  type PaceLimits,
  type ReceivedUpload,
  receiveUpload,
  toUploadError,
  type UploadReservation,
  UploadSpace,
  uploadPace,
} from "./upload/index.ts";
import { type UploadPlace, UploadPlaces } from "./upload-places.ts";

export interface CreateServices extends ExamineServices {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly usage: Usage;
  readonly queue: Pick<RecordingQueue, "add">;
  readonly dataDirectory: DataDirectory;
  /** Returns the speech model in use and its languages. */
  readonly speechModel: () => { readonly id: string; readonly languages: readonly Language[] };
  readonly fetchEnabled: () => boolean;
  readonly checkUrl: CheckUrl;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** Returns the reason why no work is accepted now, as text for people; null if work is accepted. */
  readonly refusal: () => string | null;
  /** Limits for slow senders; the contract's limits by default. */
  readonly pace?: PaceLimits;
}

/** The account for which a recording is created. */
export interface Sender {
  readonly account: Account;
  /** Workspace of the recording; null: none. */
  readonly workspaceId: string | null;
  /**
   * Repeats the access checks made before the upload, which may have taken hours.
   * @throws what the first check throws
   */
  requireAccess(): void;
}

/** Resources that a create holds until it is answered, and the size limit of its body. */
interface CreateHolds {
  readonly maxBodyBytes: number;
  readonly space: UploadReservation;
  readonly place: UploadPlace;
}

interface EnterOptions {
  readonly scope: IdempotentCreate["scope"];
  readonly fingerprint: string;
  readonly place: UploadPlace;
}

/** Allowance for the parts of a body besides its recording, and for the multipart form itself. */
const bodyAllowanceBytes = 64 * 1024 * 1024;

/**
 * Handles POST /transcriptions from the first byte to the answer, in the contract's order: size, Idempotency-Key, rate
 * limits, concurrency, body, fields, fingerprint. A refused create leaves nothing behind.
 */
export class TranscriptionCreator {
  readonly #services: CreateServices;
  readonly #places: UploadPlaces;
  readonly #space: UploadSpace;
  readonly #answers: StoredAnswers;
  readonly #idempotency: Idempotency;
  readonly #examiner: UploadExaminer;

  constructor(services: CreateServices) {
    this.#services = services;
    this.#places = new UploadPlaces(services.recordings);
    this.#space = new UploadSpace(services.diskSpace);
    this.#examiner = new UploadExaminer(services);
    this.#answers = new StoredAnswers(services.store);
    this.#idempotency = new Idempotency(this.#answers, services.now);
  }

  /** Creates a recording from a request of the API. @throws {ApiError} */
  create(request: Request): Promise<Response> {
    const { store, now } = this.#services;
    const caller = callerOf(request);
    const sender: Sender = {
      account: caller.account,
      workspaceId: caller.key.workspaceId,
      requireAccess: () => requireAccess(store, caller.key.id, now(), contextOf(request).origin),
    };
    return this.#create(request, sender, () => this.#idempotency.begin(request, sender));
  }

  /**
   * Creates a recording on behalf of an account, for the operator. An Idempotency-Key is ignored.
   * @throws {ApiError}
   */
  createFor(sender: Sender, request: Request): Promise<Response> {
    return this.#create(request, sender, () => unkept);
  }

  async #create(request: Request, sender: Sender, begin: () => IdempotentCreate): Promise<Response> {
    const limits = this.#services.limits();
    const reason = this.#services.refusal();
    if (reason !== null) throw new ApiError("service_unavailable", reason, { headers: { "Retry-After": "10" } });
    // A body that can never be stored here is answered as too large: clients would retry a 503 again and again.
    const maxBodyBytes = Math.min(limits.upload_bytes + bodyAllowanceBytes, this.#space.mostBytes);
    const announcedBytes = Number(request.headers.get("content-length") ?? 0) || 0;
    if (announcedBytes > maxBodyBytes)
      throw toUploadError({ kind: "body_too_large" }, Math.min(limits.upload_bytes, maxBodyBytes));
    const lack = this.#space.refusal(sender.account.id, announcedBytes);
    if (lack !== null) throw toUploadError({ kind: lack }, limits.upload_bytes);
    using idempotent = begin();
    using place = this.#admit(request, sender, idempotent.known !== null);
    using space = this.#space.open(sender.account.id);
    return await this.#receive(request, sender, idempotent, { maxBodyBytes, space, place });
  }

  /** Checks the rate limits, except for a replay, then takes a place. A refused create uses up no quota. */
  #admit(request: Request, sender: Sender, isReplay: boolean): UploadPlace {
    const { account } = sender;
    const own = parseAccountLimits(account.limits);
    const limit = own.recordings_per_account ?? this.#services.limits().recordings_per_account;
    if (isReplay) return this.#places.takeForReplay(account.id, limit);
    this.#requireCreates(request, sender);
    return this.#places.takeForCreate(account.id, limit);
  }

  /**
   * Checks that the account may create a recording now.
   * @throws 429 when a quota of creates is used up, with the wait until every window allows one again
   */
  #requireCreates(request: Request, sender: Sender): void {
    const spent = this.#showCreates(request, sender).filter(({ remaining }) => remaining === 0);
    const [longest] = spent.sort((a, b) => b.retryMilliseconds - a.retryMilliseconds);
    if (longest === undefined) return;
    const window = longest.windowSeconds === 3600 ? "an hour" : "24 hours";
    throw rateLimited(
      `This account may create ${longest.limit} recordings within ${window}.`,
      longest.retryMilliseconds,
    );
  }

  /** Adds the account's current limits of creates to the answer's headers, and returns them. */
  #showCreates(request: Request, { account }: Sender): RateLimit[] {
    const creates = this.#createLimits(account.id, parseAccountLimits(account.limits));
    const context = contextOf(request);
    const others = context.limits.filter(({ name }) => !creates.some((limit) => limit.name === name));
    context.limits = [...others, ...creates];
    return creates;
  }

  #createLimits(accountId: string, own: AccountLimits): RateLimit[] {
    const { usage, now } = this.#services;
    const limits = this.#services.limits();
    const window = (name: string, limit: number, windowMilliseconds: number): RateLimit => ({
      name,
      limit,
      windowSeconds: windowMilliseconds / 1000,
      ...usage.creates(accountId, { limit, windowMilliseconds }, now()),
    });
    return [
      window("creates-hour", own.creates_per_hour ?? limits.creates_per_hour, createWindows.hour),
      window("creates-day", own.creates_per_day ?? limits.creates_per_day, createWindows.day),
    ];
  }

  async #receive(
    request: Request,
    sender: Sender,
    idempotent: IdempotentCreate,
    { maxBodyBytes, space, place }: CreateHolds,
  ): Promise<Response> {
    const { dataDirectory } = this.#services;
    const limits = this.#services.limits();
    const upload = await receiveUpload(request, {
      directory: dataDirectory.incoming,
      maxFileBytes: limits.upload_bytes,
      maxBodyBytes,
      space,
      pace: this.#services.pace ?? uploadPace,
      onBytes: (count) => this.#services.metrics.http.received(count),
    });
    if (!upload.ok) {
      const error = toUploadError(upload.failure, Math.min(limits.upload_bytes, maxBodyBytes));
      // The content of a failed upload has no fingerprint. Its failure serves as one, by which a repeated request is
      // compared.
      return this.#refuse(sender, idempotent, JSON.stringify(upload.failure), error);
    }
    await using received = upload;
    const fingerprint = fingerprintOf({
      sha256: received.file?.sha256 ?? null,
      name: received.file?.name ?? null,
      url: received.fields.url ?? null,
      language: received.fields.language ?? null,
    });
    if (idempotent.known !== null) {
      sender.requireAccess();
      return replay(idempotent.known, fingerprint, locationOf);
    }
    try {
      return await this.#enter(request, sender, received, { scope: idempotent.scope, fingerprint, place });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.#refuse(sender, idempotent, fingerprint, error);
    }
  }

  #refuse(sender: Sender, idempotent: IdempotentCreate, fingerprint: string, error: ApiError): Response {
    sender.requireAccess();
    if (idempotent.known !== null && error.status === 422) return replay(idempotent.known, fingerprint, locationOf);
    this.#idempotency.keepRefusal(idempotent, fingerprint, error);
    throw error;
  }

  async #enter(
    request: Request,
    sender: Sender,
    received: ReceivedUpload,
    { scope, fingerprint, place }: EnterOptions,
  ): Promise<Response> {
    const { store, recordings, usage, queue, limits, speechModel, checkUrl, fetchEnabled, now } = this.#services;
    const { account, workspaceId } = sender;
    const source = sourceOf(received, checkUrl, fetchEnabled());
    const model = speechModel();
    const language = languageOf(model.languages, received.fields.language);
    if (source.type === "file") await this.#examiner.examine(source.file, account.id);
    // A client that has disconnected would never learn of the recording.
    if (request.signal.aborted) throw toUploadError({ kind: "aborted" }, limits().upload_bytes);

    // No await from here to the insert: other creates may have used the remaining quota since this one began. Ids must
    // also be in the order in which recordings are inserted.
    sender.requireAccess();
    this.#requireCreates(request, sender);
    const id = newRecordingId(now());
    const values = {
      id,
      accountId: account.id,
      workspaceId,
      pinnedLanguage: language?.code ?? null,
      speechModel: model.id,
      ...described(source),
    };
    let body = "";
    const recording = this.#withFile(source, id, () =>
      recordings.create(values, (writer, created) => {
        usage.spendCreate(writer, account.id, now());
        body = JSON.stringify(toTranscription(store, created));
        if (scope !== null)
          this.#answers.keep(scope, { fingerprint, status: 201, body, recordingId: id }, now(), writer);
      }),
    );
    place.giveBack();
    this.#showCreates(request, sender);
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

function described(source: Source): Pick<Recording, "sourceName" | "sourceUrl" | "sizeBytes"> {
  return source.type === "file"
    ? { sourceName: withoutExtension(source.file.name), sourceUrl: null, sizeBytes: source.file.sizeBytes }
    : { sourceName: null, sourceUrl: source.url, sizeBytes: null };
}

function locationOf(recordingId: string): string {
  return `${basePath}/transcriptions/${recordingId}`;
}
