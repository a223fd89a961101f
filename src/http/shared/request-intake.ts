import type { Account } from "../../accounts/index.ts";
import type { Settings } from "../../config/index.ts";
import type { Recording, Store, Writer } from "../../database/index.ts";
import {
  type CreatePlace,
  IntakeError,
  type RecordingIntake,
  type Sender,
  type Submission,
} from "../../intake/index.ts";
import type { DataDirectory } from "../../storage/index.ts";
import type { Metrics } from "../../telemetry/index.ts";
import { createWindows } from "../../usage/index.ts";
import { requireAccess } from "./access.ts";
import { viewerOf } from "./operations.ts";
import { callerOf, contextOf } from "./request-context.ts";
import {
  type FormParts,
  type PaceLimits,
  type ReceivedUpload,
  type RefusedUpload,
  receiveUpload,
  toUploadError,
  UPLOAD_PACE,
} from "./upload/index.ts";

export interface RequestIntakeServices {
  readonly intake: RecordingIntake;
  readonly dataDirectory: Pick<DataDirectory, "incoming">;
  readonly metrics: Metrics;
  readonly limits: () => Settings["limits"];
  /** Limits for slow senders; the contract's limits by default. */
  readonly pace?: PaceLimits;
}

/** Returns the account and workspace for which a request with a key creates a recording. */
export function senderOf(
  request: Request,
  { store, now }: { readonly store: Store; readonly now: () => number },
): Sender {
  const { key } = callerOf(request);
  return { ...viewerOf(request), requireAccess: () => requireAccess(store, key.id, now()) };
}

/** A request that creates a recording, and the place that its upload has. */
export interface Entry {
  readonly request: Request;
  readonly sender: Sender;
  readonly place: CreatePlace;
}

/** The upload of one request. Disposing of it releases the disk space that it reserved. */
interface Transfer extends Disposable {
  /** Size of the largest file that the answer to a refused upload names. */
  readonly maxFileBytes: number;
  receive(parts: FormParts): Promise<ReceivedUpload | RefusedUpload>;
}

/** Allowance for the parts of a body besides its recording, and for the multipart form itself. */
const BODY_ALLOWANCE_BYTES = 64 * 1024 * 1024;

/** Takes recordings from requests, for all surfaces. They differ in the fields of their forms and in their answers. */
export class RequestIntake {
  readonly intake: RecordingIntake;
  readonly #services: RequestIntakeServices;

  constructor(services: RequestIntakeServices) {
    this.intake = services.intake;
    this.#services = services;
  }

  /**
   * Begins an upload. Nothing of the body is read yet.
   * @throws {IntakeError} when the server accepts no work, or has no disk space for a body of the announced size
   * @throws {ApiError} when it can never store such a body
   */
  open(request: Request, account: Account): Transfer {
    const { intake } = this;
    const { limits, dataDirectory, metrics, pace = UPLOAD_PACE } = this.#services;
    intake.requireOpen();
    const maxFileBytes = limits().upload_bytes;
    // A body that can never be stored here is answered as too large: clients would retry a 503 again and again.
    const maxBodyBytes = Math.min(maxFileBytes + BODY_ALLOWANCE_BYTES, intake.space.capacityBytes);
    const smallest = Math.min(maxFileBytes, maxBodyBytes);
    const announcedBytes = Number(request.headers.get("content-length") ?? 0) || 0;
    if (announcedBytes > maxBodyBytes) throw toUploadError({ kind: "body_too_large" }, smallest);
    const shortage = intake.space.refusal(account.id, announcedBytes);
    if (shortage !== null) throw new IntakeError({ kind: shortage });
    const space = intake.space.reserve(account.id);
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

  /** Adds the account's current limits of creates to the answer's headers. */
  showLimits(request: Request, account: Account): void {
    const context = contextOf(request);
    const creates = this.intake.limits.windowsOf(account).map(({ window, ...state }) => {
      return { name: `creates-${window}`, windowSeconds: createWindows[window] / 1000, ...state };
    });
    context.limits = [...context.limits.filter(({ name }) => !name.startsWith("creates-")), ...creates];
  }

  /**
   * Creates the recording of a submission that was examined.
   * @param also runs further statements in the transaction that inserts the record
   * @throws {IntakeError} when a limit was reached meanwhile
   * @throws {ApiError} when the client has disconnected, or may not create recordings any more
   */
  create(
    { request, sender, place }: Entry,
    submission: Submission,
    also: (writer: Writer, recording: Recording) => void,
  ): Promise<Recording> {
    const showLimits = () => this.showLimits(request, sender.account);
    const requireAccess = () => {
      // A client that has disconnected would never learn of the recording.
      if (request.signal.aborted) throw toUploadError({ kind: "aborted" }, 0);
      sender.requireAccess();
      showLimits();
    };
    return this.intake.create({ ...sender, requireAccess }, submission, {
      place,
      also,
      onCreated: showLimits,
    });
  }
}
