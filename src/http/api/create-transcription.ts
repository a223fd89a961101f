import { locationOf, toTranscription } from "../../api-contract/index.ts";
import type { Recording } from "../../recordings/index.ts";
import type { Language } from "../../speech/index.ts";
import type { Store } from "../../storage/index.ts";
import { type CheckUrl, createParts, languageOf, sourceOf } from "../shared/create-fields.ts";
import { hintsOf } from "../shared/create-hints.ts";
import { ApiError } from "../shared/errors.ts";
import { type Entry, type IntakeServices, RecordingIntake, type Sender, senderOf } from "../shared/intake.ts";
import { type ReceivedUpload, toUploadError } from "../shared/upload/index.ts";
import { fingerprintOf, Idempotency, IdempotentCreate } from "./idempotency.ts";

interface CreateServices extends IntakeServices {
  readonly store: Store;
  /** Returns the speech model in use and its languages. */
  readonly speechModel: () => { readonly id: string; readonly languages: readonly Language[] };
  readonly fetchEnabled: () => boolean;
  readonly checkUrl: CheckUrl;
}

/** A recording that was created, and its representation in the API at that moment. */
interface Created {
  readonly recording: Recording;
  readonly body: string;
}

/** A create in progress, and the resources that it holds until it is answered. */
interface Create extends Entry {
  readonly idempotent: IdempotentCreate;
}

/**
 * Handles POST /transcriptions from the first byte to the answer, in the contract's order: size, Idempotency-Key, rate
 * limits, concurrency, body, fields, fingerprint. A refused create leaves nothing behind.
 */
export class TranscriptionCreator {
  /** The intake that all surfaces share: their uploads count against the same limits. */
  readonly intake: RecordingIntake;
  readonly #services: CreateServices;
  readonly #idempotency: Idempotency;

  constructor(services: CreateServices) {
    this.#services = services;
    this.intake = new RecordingIntake(services);
    this.#idempotency = new Idempotency(services.store, services.now);
  }

  /** Creates a recording from a request of the API. @throws {ApiError} */
  async create(request: Request): Promise<Response> {
    const sender = senderOf(request, this.#services);
    const { account, workspaceId } = sender;
    const created = await this.#create(request, sender, () =>
      this.#idempotency.begin(request, { accountId: account.id, workspaceId }),
    );
    if (created instanceof Response) return created;
    const location = locationOf(created.recording.id);
    const headers = { "Content-Type": "application/json;charset=utf-8", Location: location };
    return new Response(created.body, { status: 201, headers });
  }

  /**
   * Creates a recording on behalf of an account, for the operator. An Idempotency-Key is ignored.
   * @throws {ApiError}
   */
  async createFor(sender: Sender, request: Request): Promise<Recording> {
    const created = await this.#create(request, sender, () => new IdempotentCreate());
    if (created instanceof Response) throw new Error("a create without an Idempotency-Key was answered as a replay");
    return created.recording;
  }

  /** @returns the stored answer of a replay, else what was created */
  async #create(request: Request, sender: Sender, begin: () => IdempotentCreate): Promise<Response | Created> {
    const { account } = sender;
    const { limits } = this.intake;
    using transfer = this.intake.open(request, account);
    using idempotent = begin();
    using place = idempotent.isReplay ? limits.admitReplay(account) : limits.admit(request, account);
    const upload = await transfer.receive(createParts);
    const create = { request, sender, idempotent, place };
    if (!upload.ok) {
      // The content of a failed upload has no fingerprint. Its failure serves as one, by which a repeated request is
      // compared.
      const error = toUploadError(upload.failure, transfer.maxFileBytes);
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

  async #enter(create: Create, received: ReceivedUpload, fingerprint: string): Promise<Created> {
    const { store, speechModel, checkUrl, fetchEnabled } = this.#services;
    const source = sourceOf(received, checkUrl, fetchEnabled());
    const model = speechModel();
    const language = languageOf(model.languages, received.fields.language);
    const hints = hintsOf(received.fields);
    const submission = { source, pinnedLanguage: language?.code ?? null, hints, speechModel: model.id };
    await this.intake.examine(source, create.sender.account);
    let body = "";
    const recording = await this.intake.enter(create, submission, (writer, created) => {
      body = JSON.stringify(toTranscription(store, created));
      create.idempotent.store({ fingerprint, status: 201, body, recordingId: created.id }, writer);
    });
    return { recording, body };
  }
}
