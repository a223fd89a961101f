import { locationOf, toTranscription } from "../../api-contract/index.ts";
import type { Recording, Store } from "../../database/index.ts";
import type { Sender } from "../../intake/index.ts";
import type { Language } from "../../speech/index.ts";
import { refusalOf } from "../shared/error-envelope.ts";
import { type Entry, RequestIntake, type RequestIntakeServices, senderOf } from "../shared/request-intake.ts";
import { type ReceivedUpload, toUploadError } from "../shared/upload/index.ts";
import { type CheckUrl, createParts, hintsOf, isTranslated, languageOf, sourceOf } from "./create-fields.ts";
import { fingerprintOf, Idempotency, IdempotentCreate } from "./idempotency.ts";

interface CreateServices extends RequestIntakeServices {
  readonly store: Store;
  /** Returns the speech model in use and its languages. */
  readonly speechModel: () => { readonly id: string; readonly languages: readonly Language[] };
  /** Returns why a model cannot translate, with the models that can; null if it can. */
  readonly translationRefusal: (modelId: string) => string | null;
  readonly fetchEnabled: () => boolean;
  readonly checkUrl: CheckUrl;
  readonly now: () => number;
}

/** A recording that was created, and its representation in the API at that moment. */
interface Created {
  readonly recording: Recording;
  readonly body: string;
}

/**
 * Handles POST /transcriptions from the first byte to the answer, in the contract's order: size, Idempotency-Key, rate
 * limits, concurrency, body, fields, fingerprint. A refused create leaves nothing behind.
 */
export class TranscriptionCreator {
  /** The intake of requests that all surfaces share. */
  readonly requests: RequestIntake;
  /** The Idempotency-Keys of all operations. */
  readonly idempotency: Idempotency;
  readonly #services: CreateServices;

  constructor(services: CreateServices) {
    this.#services = services;
    this.requests = new RequestIntake(services);
    this.idempotency = new Idempotency(services.store, services.now);
  }

  /** Creates a recording from a request of the API. @throws {ApiError} @throws {IntakeError} */
  async create(request: Request): Promise<Response> {
    const sender = senderOf(request, this.#services);
    const { account, workspaceId } = sender;
    const created = await this.#create(request, sender, () =>
      this.idempotency.begin(request, { accountId: account.id, workspaceId }),
    );
    if (created instanceof Response) return created;
    const location = locationOf(created.recording.id);
    const headers = { "Content-Type": "application/json;charset=utf-8", Location: location };
    return new Response(created.body, { status: 201, headers });
  }

  /**
   * Creates a recording on behalf of an account, for the operator. An Idempotency-Key is ignored.
   * @throws {ApiError} @throws {IntakeError}
   */
  async createFor(sender: Sender, request: Request): Promise<Recording> {
    const created = await this.#create(request, sender, () => new IdempotentCreate());
    if (created instanceof Response) throw new Error("a create without an Idempotency-Key was answered as a replay");
    return created.recording;
  }

  /** @returns the stored answer of a replay, else what was created */
  async #create(request: Request, sender: Sender, begin: () => IdempotentCreate): Promise<Response | Created> {
    const { account } = sender;
    const { requests } = this;
    const { limits } = requests.intake;
    using transfer = requests.open(request, account);
    using idempotent = begin();
    if (!idempotent.isReplay) requests.showLimits(request, account);
    using place = idempotent.isReplay ? limits.admitReplay(account) : limits.admit(account);
    const upload = await transfer.receive(createParts);
    await using received = upload.ok ? upload : null;
    // The content of a failed upload has no fingerprint. Its failure serves as one, by which a repeated request is
    // compared.
    const fingerprint = upload.ok ? fingerprintOf(upload) : JSON.stringify(upload.failure);
    if (idempotent.isReplay && received !== null) {
      sender.requireAccess();
      return idempotent.replay(fingerprint);
    }
    try {
      if (!upload.ok) throw toUploadError(upload.failure, transfer.maxFileBytes);
      return await this.#enter({ request, sender, place }, upload, { fingerprint, idempotent });
    } catch (error) {
      const refusal = refusalOf(error, request);
      if (refusal === null) throw error;
      sender.requireAccess();
      if (idempotent.isReplay && refusal.status === 422) return idempotent.replay(fingerprint);
      idempotent.storeRefusal(fingerprint, refusal);
      throw refusal;
    }
  }

  async #enter(
    entry: Entry,
    received: ReceivedUpload,
    { fingerprint, idempotent }: { readonly fingerprint: string; readonly idempotent: IdempotentCreate },
  ): Promise<Created> {
    const { store, speechModel, translationRefusal, checkUrl, fetchEnabled } = this.#services;
    const source = sourceOf(received, checkUrl, fetchEnabled());
    const model = speechModel();
    const language = languageOf(model.languages, received.fields.language);
    const hints = hintsOf(received.fields);
    const submission = {
      source,
      pinnedLanguage: language?.code ?? null,
      hints,
      isTranslated: isTranslated(received.fields.task, () => translationRefusal(model.id)),
      speechModel: model.id,
    };
    await this.requests.intake.examine(source, entry.sender);
    let body = "";
    const recording = await this.requests.create(entry, submission, (writer, created) => {
      body = JSON.stringify(toTranscription(store, created));
      idempotent.store({ fingerprint, status: 201, body, recordingId: created.id }, writer);
    });
    return { recording, body };
  }
}
