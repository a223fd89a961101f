import { type AnyElysia, Elysia } from "elysia";
import type { Recording } from "../../database/index.ts";
import { exportFileName } from "../../exports/index.ts";
import type { Sender } from "../../intake/index.ts";
import { type AccessOptions, accountWithoutKey, requireScope } from "../shared/access.ts";
import { percentEncodedDisposition } from "../shared/content-disposition.ts";
import { ApiError } from "../shared/errors.ts";
import { contextOf, readerOf } from "../shared/request-context.ts";
import { senderOf } from "../shared/request-intake.ts";
import { type AsrOrder, asrParts, FILE_PART, readAsrOrder } from "./asr-order.ts";
import { languageName } from "./languages.ts";
import { requireTranslator } from "./models.ts";
import { invalidParam, toOpenAiAnswer, toOpenAiForm } from "./openai-error.ts";
import { renderAsrJson, renderText } from "./render.ts";
import {
  JSON_TYPE,
  languageFor,
  type TranscriptionServices,
  textType,
  WaitingTranscripts,
} from "./waiting-transcripts.ts";

interface AsrServices extends TranscriptionServices, Pick<AccessOptions, "asrNetworks"> {}

const ASR_PATH = "/asr";
const DETECT_PATH = "/detect-language";

/** Returns whether a path belongs to the API of whisper-asr-webservice. */
export function isAsrPath(path: string): boolean {
  return path === ASR_PATH || path === DETECT_PATH;
}

/** Creates the routes of whisper-asr-webservice's API. */
export function asrRoutes(services: AsrServices): AnyElysia {
  const asr = new AsrTranscriptions(services);
  return new Elysia({ name: "asr" })
    .post(ASR_PATH, ({ request }) => asr.transcribe(request), { parse: "none" })
    .post(DETECT_PATH, ({ request }) => asr.detectLanguage(request), { parse: "none" });
}

/**
 * Returns the answer to an error. Its body is empty, and its reason is in a header: Bazarr ignores the status, and saves
 * any body as subtitles.
 */
export function toAsrAnswer(error: ApiError): Response {
  const { status, headers } = toOpenAiAnswer(error);
  const { message, code, param } = toOpenAiForm(error).error;
  const reason = message.startsWith(`${param}: `) ? message.slice(`${param}: `.length) : message;
  const part = param === "file" ? FILE_PART : param;
  headers.delete("Content-Type");
  headers.set("X-Error-Code", code ?? error.code);
  headers.set("X-Error-Message", part === null ? reason : `${part}: ${reason}`);
  return new Response(null, { status, headers });
}

/** The engine of whisper-asr-webservice whose JSON the answers in JSON follow. */
const ASR_ENGINE = "openai_whisper";

/** Returns the headers of whisper-asr-webservice, which sends every format as plain text. */
function asrHeaders(fileName: string) {
  return { ...textType(), "Asr-Engine": ASR_ENGINE, "Content-Disposition": percentEncodedDisposition(fileName) };
}

/** Handles the requests of whisper-asr-webservice's API, like those of OpenAI's, with other fields and answers. */
class AsrTranscriptions {
  readonly #services: AsrServices;
  readonly #waiting: WaitingTranscripts;

  constructor(services: AsrServices) {
    this.#services = services;
    this.#waiting = new WaitingTranscripts(services);
  }

  /** Creates a recording, waits for its transcript, and answers with it. @throws {ApiError} */
  async transcribe(request: Request): Promise<Response> {
    const sender = this.#senderOf(request);
    const order = readAsrOrder(request);
    using wait = this.#waiting.begin(request, FILE_PART);
    const isTransient = !this.#services.compat().keep;
    const { id, fileName } = await this.#waiting.create(request, wait, this.#formOf(sender, order, isTransient));
    const recording = await this.#waiting.ended(id, wait);
    const headers = asrHeaders(exportFileName(fileName, order.output));
    const response = await this.#render(request, sender, recording, order, headers);
    await this.#waiting.answered(id, wait);
    return response;
  }

  /** Answers with the language of a recording, of which nothing is kept. @throws {ApiError} */
  async detectLanguage(request: Request): Promise<Response> {
    const sender = this.#senderOf(request);
    const order = { ...readAsrOrder(request), task: "transcribe" as const, language: null };
    using wait = this.#waiting.begin(request, FILE_PART);
    const spoken = await this.#waiting.language(request, wait, this.#formOf(sender, order, true));
    if (spoken === null) throw invalidParam(FILE_PART, "The recording has no speech.");
    const { language, confidence } = spoken;
    const body = { detected_language: languageName(language), language_code: language, confidence };
    return new Response(JSON.stringify(body), { headers: JSON_TYPE });
  }

  #formOf(sender: Sender, order: AsrOrder, isTransient: boolean) {
    const { models } = this.#services;
    const model = models.current();
    const isTranslated = order.task === "translate";
    if (isTranslated) requireTranslator(models, model, "task");
    const pinnedLanguage = languageFor(model, order.language);
    const submission = { pinnedLanguage, hints: order.hints, isTranslated, speechModel: model.id, isTransient };
    return { sender, parts: asrParts(order), read: () => ({ order, submission }) };
  }

  async #render(
    request: Request,
    sender: Sender,
    recording: Recording,
    { task, output, hasWords, hasSpeakers }: AsrOrder,
    headers: ReturnType<typeof asrHeaders>,
  ): Promise<Response> {
    this.#services.library.reads.exported(readerOf(request, "asr"), recording, output);
    if (output !== "json" && output !== "txt") {
      return await this.#waiting.sendAs(output, request, { sender, recording, task }, headers);
    }
    const transcript = this.#waiting.transcriptOf(sender, recording, task);
    const details = { spoken: recording.language, hasWords, hasSpeakers };
    const parts = output === "txt" ? renderText(transcript, "\n") : renderAsrJson(transcript, details);
    return await this.#waiting.send(request, recording, parts, headers);
  }

  /** Returns the account for which a request creates a recording: that of its key, or of its network. */
  #senderOf(request: Request): Sender {
    const { keylessAccount: account } = contextOf(request);
    if (account === null) {
      requireScope(request, "transcriptions:write");
      requireScope(request, "transcriptions:read");
      return senderOf(request, this.#services);
    }
    const requireAccess = () => {
      if (accountWithoutKey(request, this.#services)?.id === account.id) return;
      throw new ApiError("missing_api_key", "This network may no longer send recordings without a key.");
    };
    return { kind: "application", account, workspaceId: null, requireAccess };
  }
}
