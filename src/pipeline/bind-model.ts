import { Type } from "@sinclair/typebox";
import type { LanguageRoute, SpeechModel } from "../models/index.ts";
import type { Recordings } from "../recordings/index.ts";
import type { Language } from "../speech/index.ts";
import type { StepContext } from "./step.ts";

/** The available speech models, as recordings use them. */
export interface RecordingModels {
  /** Returns the model that new recordings get. */
  current(): SpeechModel;
  /** Returns the model with this name, or null if it is no longer available. */
  find(id: string): SpeechModel | null;
  /**
   * Returns the model that detects languages for a model that cannot, and recognizes those that it does not know; null
   * if it needs no other.
   */
  companionOf(model: SpeechModel): SpeechModel | null;
  /** Returns the models that recognize some languages instead of the recording's model. */
  routes(): readonly LanguageRoute[];
  /** Returns the languages in which recordings of a model are transcribed, by any of the models. */
  languagesOf(model: SpeechModel): readonly Language[];
  sha256Of(model: SpeechModel): Promise<string>;
  /** Ensures that the worker can run the model. @throws the signal's reason */
  admit(model: SpeechModel, signal: AbortSignal): Promise<void>;
  /**
   * Returns the path of the ONNX form of the model's encoder, or null for the model's own encoder. Tests an unknown
   * encoder first if the amount of speech justifies it. @throws the signal's reason
   */
  encoderOf(model: SpeechModel, spokenSeconds: number, signal: AbortSignal): Promise<string | null>;
  /** Returns the result of `encoderOf` where it does not depend on the amount of speech; else undefined. */
  knownEncoderOf(model: SpeechModel, signal: AbortSignal): Promise<string | null | undefined>;
}

/** The model that transcribes a recording, from its first word to its last. */
export interface BoundModel extends EncodedModel {
  readonly languages: readonly Language[];
  /** The model that detects languages for it and recognizes those that it does not know; null if it needs no other. */
  readonly companion: EncodedModel | null;
  /** Models that recognize some languages, by ISO code, instead of it. */
  readonly routes: readonly (EncodedModel & Pick<LanguageRoute, "codes">)[];
}

/** A model, and the encoder that it is used with. */
export interface EncodedModel {
  /** Its id; for a file named in the settings, its absolute path. */
  readonly id: string;
  readonly path: string;
  /** Path of the ONNX form of its encoder; null for the model's own encoder. */
  readonly encoder: string | null;
}

const encoderSchema = Type.Object({ path: Type.Union([Type.String(), Type.Null()]) });

/**
 * Returns the model that the recording was created for, even if another model is in use now. If that model is gone or
 * its file was replaced, discards its results and uses the current model, because a transcript from two models would be
 * worse. The encoder is also chosen only once: different encoders sometimes recognize different words.
 * @param spokenSeconds seconds of speech in all tracks
 */
export async function bindModel(
  context: StepContext,
  { models, recordings }: { readonly models: RecordingModels; readonly recordings: Recordings },
  spokenSeconds: number,
): Promise<BoundModel> {
  const { recording, checkpoints, log } = context;
  const { id, speechModel, speechModelSha256 } = recording;
  let model = speechModel === null ? models.current() : models.find(speechModel);
  let sha256 = model === null ? null : await models.sha256Of(model);
  if (model === null || sha256 === null || (speechModelSha256 !== null && speechModelSha256 !== sha256)) {
    for (const step of ["encoder", "language", "transcribe", "translate"]) checkpoints.clear(step);
    recordings.rows.clearModels(id);
    model = models.current();
    sha256 = await models.sha256Of(model);
    log.warn({ event: "recording.model_replaced", recordingId: id, model: speechModel, replacement: model.id });
  }
  recordings.describe(id, { speechModel: model.id, speechModelSha256: sha256 });
  const bind = async (one: SpeechModel, part: number): Promise<EncodedModel> => {
    await models.admit(one, context.signal);
    let encoder = checkpoints.read("encoder", part, encoderSchema);
    if (encoder === null) {
      // An earlier version of the program, which used only the model's own encoder, may have started the transcription.
      const hasBegun = checkpoints.finished("transcribe").size > 0;
      encoder = { path: hasBegun ? null : await models.encoderOf(one, spokenSeconds, context.signal) };
      checkpoints.write("encoder", part, encoderSchema, encoder);
    }
    return { id: one.id, path: one.path, encoder: encoder.path };
  };
  return await withOthers(models, model, bind);
}

/**
 * Returns the model that `bindModel` will most likely return, before the amount of speech is known. Stores nothing.
 * Returns null if an encoder depends on that amount, or if `bindModel` has to replace the recording's model.
 */
export async function foreseeModel(
  { recording: { speechModel, speechModelSha256 }, checkpoints, signal }: StepContext,
  models: RecordingModels,
): Promise<BoundModel | null> {
  const model = speechModel === null ? models.current() : models.find(speechModel);
  if (model === null) return null;
  if (speechModelSha256 !== null && speechModelSha256 !== (await models.sha256Of(model))) return null;
  let isKnown = true;
  const bound = await withOthers(models, model, async (one, part) => {
    await models.admit(one, signal);
    const stored = checkpoints.read("encoder", part, encoderSchema);
    const encoder = stored === null ? await models.knownEncoderOf(one, signal) : stored.path;
    isKnown &&= encoder !== undefined;
    return { id: one.id, path: one.path, encoder: encoder ?? null };
  });
  return isKnown ? bound : null;
}

/** Binds a model and the models that recognize some languages instead of it. @param bind gets a number for each model */
async function withOthers(
  models: RecordingModels,
  model: SpeechModel,
  bind: (model: SpeechModel, part: number) => Promise<EncodedModel>,
): Promise<BoundModel> {
  const bindAnother = async (one: SpeechModel, part: number) => {
    // A fleet names models by their digests.
    await models.sha256Of(one);
    return await bind(one, part);
  };
  const companion = models.companionOf(model);
  const routes: BoundModel["routes"][number][] = [];
  const own = await bind(model, 0);
  const detector = companion === null ? null : await bindAnother(companion, 1);
  for (const [index, route] of models.routes().entries()) {
    routes.push({ ...(await bindAnother(route.model, 2 + index)), codes: route.codes });
  }
  return { ...own, languages: models.languagesOf(model), companion: detector, routes };
}
