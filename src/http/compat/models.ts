import { Type } from "@sinclair/typebox";
import type { UsableModel, UsableModels } from "../shared/usable-models.ts";
import { invalidParam, OpenAiError } from "./openai-error.ts";

export const modelSchema = Type.Object(
  {
    id: Type.String({ description: "Send it as `model`." }),
    object: Type.Literal("model"),
    created: Type.Integer({ minimum: 0, description: "Seconds since 1970." }),
    owned_by: Type.String(),
  },
  { description: "A speech model." },
);

export const modelListSchema = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(modelSchema) },
  { description: "The installed models, and `whisper-1` for the model in use." },
);

/** The name that every client of OpenAI's API knows; it means the model in use. */
const ALIAS = "whisper-1";

/** Returns whether a name that is no installed model means the model in use. */
const isAlias = (name: string) => /^(?:gpt|whisper)-/.test(name);

/** Returns the models as `GET /v1/models` lists them. */
export function listModels(models: UsableModels) {
  const installed = models.installed();
  const inUse = models.current().id;
  const created = installed.find(({ id }) => id === inUse)?.createdAt ?? 0;
  const names = installed.map(({ id, createdAt }) => toModel(id, createdAt));
  return installed.some(({ id }) => id === ALIAS) ? names : [toModel(ALIAS, created), ...names];
}

/** Returns a model by a name that a transcription may use. @throws {OpenAiError} 404 for another name */
export function describeModel(models: UsableModels, name: string) {
  const listed = listModels(models);
  const model = listed.find(({ id }) => id === name);
  if (model !== undefined) return model;
  if (!isAlias(name)) throw unknownModel();
  return toModel(name, (listed[0]?.created ?? 0) * 1000);
}

/**
 * Returns the model for a recording.
 * @param param the field that names it
 * @throws {OpenAiError} 404 for a name that means none
 */
export function modelFor(models: UsableModels, name: string, param = "model"): UsableModel {
  const model = models.find(name) ?? (isAlias(name) ? models.current() : null);
  if (model === null) throw unknownModel(param);
  return model;
}

/**
 * Returns the model for a recording that is translated. An unknown name is 400 here: Nextcloud checks with such a request
 * whether a server translates, and takes 404 for a server that does not.
 * @param param the field that names it
 * @throws {OpenAiError} 400 for a name that means none, and for a model that cannot translate
 */
export function translatorFor(models: UsableModels, name: string, param = "model"): UsableModel {
  const model = models.find(name) ?? (isAlias(name) ? models.current() : null);
  if (model === null) throw unknownModel(param, 400);
  requireTranslator(models, model, param);
  return model;
}

/** @throws {OpenAiError} 400 under `param` for a model that cannot translate */
export function requireTranslator(models: UsableModels, { id }: UsableModel, param: string): void {
  const refusal = models.translationRefusal(id);
  if (refusal !== null) throw invalidParam(param, refusal);
}

function toModel(id: string, createdAt: number) {
  const created = Math.max(0, Math.floor(createdAt / 1000));
  return { id, object: "model" as const, created, owned_by: "transcribe" };
}

function unknownModel(param = "model", status = 404): OpenAiError {
  return new OpenAiError("not_found", "This model is not installed; GET /v1/models lists the models.", {
    status,
    param,
    code: "model_not_found",
  });
}
