import type { Account } from "../../accounts/index.ts";
import type { Application, Library } from "../../library/index.ts";
import type { Recording, RecordingQueue } from "../../recordings/index.ts";
import type { DataDirectory, Store, Writer } from "../../storage/index.ts";
import type { Metrics } from "../../telemetry/index.ts";
import type { Hints } from "../../text/index.ts";
import { requireAccess } from "./access.ts";
import { type Source, withoutExtension } from "./create-fields.ts";
import { type CreateLimitServices, CreateLimits, type UploadPlace } from "./create-limits.ts";
import { ApiError } from "./errors.ts";
import { type ExamineServices, UploadExaminer } from "./examine-upload.ts";
import { callerOf, contextOf } from "./request-context.ts";
import {
  type FormParts,
  type PaceLimits,
  type ReceivedUpload,
  type RefusedUpload,
  receiveUpload,
  toUploadError,
  UPLOAD_PACE,
  UploadSpace,
} from "./upload/index.ts";

export interface IntakeServices extends ExamineServices, CreateLimitServices {
  readonly library: Pick<Library, "create">;
  readonly queue: Pick<RecordingQueue, "add">;
  readonly dataDirectory: DataDirectory;
  readonly metrics: Metrics;
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

/** Returns the account and workspace for which a request with a key creates a recording. */
export function senderOf(
  request: Request,
  { store, now }: { readonly store: Store; readonly now: () => number },
): Sender {
  const { key, account } = callerOf(request);
  return {
    account,
    workspaceId: key.workspaceId,
    requireAccess: () => requireAccess(store, key.id, now(), contextOf(request).origin),
  };
}

/** Returns the application that sends a recording. */
export function viewerOfSender({ account, workspaceId }: Sender): Application {
  return { kind: "application", account, workspaceId };
}

/** A request that creates a recording, and the place that its upload has. */
export interface Entry {
  readonly request: Request;
  readonly sender: Sender;
  readonly place: UploadPlace;
}

/** The recording that a form describes. Its fields are checked; its file is not. */
export interface Submission {
  readonly source: Source;
  readonly pinnedLanguage: string | null;
  readonly hints: Hints;
  /** Id or absolute path of the speech model. */
  readonly speechModel: string;
  /** Whether a client waits for the transcript, after which nothing of the recording is kept; false by default. */
  readonly isTransient?: boolean;
}

/** The upload of one request. Disposing of it releases the disk space that it reserved. */
interface Transfer extends Disposable {
  /** Size of the largest file that the answer to a refused upload names. */
  readonly maxFileBytes: number;
  receive(parts: FormParts): Promise<ReceivedUpload | RefusedUpload>;
}

/** Allowance for the parts of a body besides its recording, and for the multipart form itself. */
const BODY_ALLOWANCE_BYTES = 64 * 1024 * 1024;

/**
 * Accepts recordings for every surface: sizes, limits, upload, checks of the file, and the record. The surfaces differ
 * in the fields of their forms and in their answers. A refused recording leaves nothing behind.
 */
export class RecordingIntake {
  readonly limits: CreateLimits;
  readonly #services: IntakeServices;
  readonly #space: UploadSpace;
  readonly #examiner: UploadExaminer;

  constructor(services: IntakeServices) {
    this.#services = services;
    this.limits = new CreateLimits(services);
    this.#space = new UploadSpace(services.diskSpace);
    this.#examiner = new UploadExaminer(services);
  }

  /**
   * Begins an upload. Nothing of the body is read yet.
   * @throws {ApiError} when the server accepts no work, or can't store a body of the announced size
   */
  open(request: Request, account: Account): Transfer {
    const { refusal, limits, dataDirectory, metrics, pace = UPLOAD_PACE } = this.#services;
    const reason = refusal();
    if (reason !== null) throw new ApiError("service_unavailable", reason, { headers: { "Retry-After": "10" } });
    const maxFileBytes = limits().upload_bytes;
    // A body that can never be stored here is answered as too large: clients would retry a 503 again and again.
    const maxBodyBytes = Math.min(maxFileBytes + BODY_ALLOWANCE_BYTES, this.#space.capacityBytes);
    const smallest = Math.min(maxFileBytes, maxBodyBytes);
    const announcedBytes = Number(request.headers.get("content-length") ?? 0) || 0;
    if (announcedBytes > maxBodyBytes) throw toUploadError({ kind: "body_too_large" }, smallest);
    const shortage = this.#space.refusal(account.id, announcedBytes);
    if (shortage !== null) throw toUploadError({ kind: shortage }, maxFileBytes);
    const space = this.#space.reserve(account.id);
    return {
      maxFileBytes: smallest,
      receive: (parts) =>
        receiveUpload(request, {
          parts,
          directory: dataDirectory.incoming,
          maxFileBytes,
          maxBodyBytes,
          space,
          pace,
          onBytes: (count) => metrics.http.received(count),
        }),
      [Symbol.dispose]: () => space[Symbol.dispose](),
    };
  }

  /** Checks that a recording can be processed. @throws {ApiError} when its file can't */
  async examine(source: Source, account: Account): Promise<void> {
    if (source.type === "file") await this.#examiner.examine(source.file, account.id);
  }

  /**
   * Creates the recording of a submission that was examined, and adds it to the queue. The place is released in the same
   * tick in which the record is inserted.
   * @param also runs further statements in the transaction that inserts the record
   * @throws {ApiError} when a limit was reached meanwhile, or the client has disconnected
   */
  enter(
    { request, sender, place }: Entry,
    submission: Submission,
    also: (writer: Writer, recording: Recording) => void = () => {},
  ): Promise<Recording> {
    const { account } = sender;
    return this.#create(sender, submission, also, {
      check: () => {
        // A client that has disconnected would never learn of the recording.
        if (request.signal.aborted) throw toUploadError({ kind: "aborted" }, 0);
        sender.requireAccess();
        // Other creates may have used the remaining quota since this one began.
        this.limits.requireQuota(request, account);
      },
      onCreated: () => {
        place.release();
        this.limits.showQuota(request, account);
      },
    });
  }

  /**
   * Does the same for a file that nobody waits for.
   * @throws {ApiError} when its account may not create recordings any more, or a limit was reached meanwhile
   */
  enterFile(
    { sender, place }: Omit<Entry, "request">,
    submission: Submission,
    also: (writer: Writer, recording: Recording) => void,
  ): Promise<Recording> {
    return this.#create(sender, submission, also, {
      check: () => {
        sender.requireAccess();
        if (this.limits.fileLimit(sender.account) !== null) throw new ApiError("rate_limited", "A limit was reached.");
      },
      onCreated: () => place.release(),
    });
  }

  #create(
    { account, workspaceId }: Sender,
    { source, pinnedLanguage, hints, speechModel, isTransient = false }: Submission,
    also: (writer: Writer, recording: Recording) => void,
    { check, onCreated }: { readonly check: () => void; readonly onCreated: () => void },
  ): Promise<Recording> {
    const { library, usage, queue, now } = this.#services;
    return library.create({
      values: {
        accountId: account.id,
        workspaceId,
        pinnedLanguage,
        ...hints,
        speechModel,
        isTransient,
        ...sourceColumns(source),
      },
      audioPath: source.type === "file" ? source.file.path : null,
      check,
      also: (writer, created) => {
        usage.spendCreate(writer, account.id, now());
        also(writer, created);
      },
      onCreated: (recording) => {
        onCreated();
        queue.add(recording);
      },
    });
  }
}

function sourceColumns(source: Source): Pick<Recording, "sourceName" | "sourceUrl" | "sizeBytes"> {
  return source.type === "file"
    ? { sourceName: withoutExtension(source.file.name), sourceUrl: null, sizeBytes: source.file.sizeBytes }
    : { sourceName: null, sourceUrl: source.url, sizeBytes: null };
}
