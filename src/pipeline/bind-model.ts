import { Type } from "@sinclair/typebox";
import type { SpeechModel } from "../models/index.ts";
import type { Recordings } from "../recordings/index.ts";
import { type Language, readModelLanguages } from "../speech/index.ts";
import type { StepContext } from "./step.ts";

/** The speech models there are, as recordings see them. */
export interface RecordingModels {
  /** The one that new recordings get. */
  current(): SpeechModel;
  /** The one of that name, while it is there. */
  find(id: string): SpeechModel | null;
  sha256Of(model: SpeechModel): Promise<string>;
  /** Sees to it that the worker can run the model. @throws the signal's reason */
  admit(model: SpeechModel, signal: AbortSignal): Promise<void>;
  /**
   * The ONNX form of its encoder, by its path: null where the model's own is to be used. One that is not known yet is tried
   * where the work ahead is worth it.
   * @throws the signal's reason
   */
  encoderOf(model: SpeechModel, spokenSeconds: number, signal: AbortSignal): Promise<string | null>;
  /** A recording needs its model no more. */
  recordingEnded(): void;
}

/** The model that a recording is done with, from its first word to its last. */
export interface BoundModel extends SpeechModel {
  readonly languages: readonly Language[];
  /** The ONNX form of its encoder, by its path; null: the model's own. */
  readonly encoder: string | null;
}

const encoderSchema = Type.Object({ path: Type.Union([Type.String(), Type.Null()]) });

/**
 * The model that the recording was created for, whichever is in use by now, and enters its digest. Where that model is
 * gone or another file has its place, what it did is forgotten and the model in use does all of it: half a transcript of
 * each would be worse. The encoder is chosen once, too: others give other words now and then.
 * @param spokenSeconds of all its tracks
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
    for (const step of ["encoder", "language", "transcribe"]) checkpoints.clear(step);
    model = models.current();
    sha256 = await models.sha256Of(model);
    log.warn({ event: "recording.model_gone", recordingId: id, model: speechModel, takes: model.id });
  }
  recordings.describe(id, { speechModel: model.id, speechModelSha256: sha256 });
  await models.admit(model, context.signal);
  let encoder = checkpoints.read("encoder", 0, encoderSchema);
  if (encoder === null) {
    // An earlier version, which had none but the model's own, may have begun.
    const hasBegun = checkpoints.finished("transcribe").size > 0;
    encoder = { path: hasBegun ? null : await models.encoderOf(model, spokenSeconds, context.signal) };
    checkpoints.write("encoder", 0, encoderSchema, encoder);
  }
  return { ...model, languages: readModelLanguages(model.path), encoder: encoder.path };
}
