import { type Language, readModelLanguages } from "../engine/index.ts";
import type { SpeechModel } from "../models/index.ts";
import type { Recordings } from "../transcriptions/index.ts";
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
  /** A recording needs its model no more. */
  recordingEnded(): void;
}

/** The model that a recording is done with, from its first word to its last. */
export interface BoundModel extends SpeechModel {
  readonly languages: readonly Language[];
}

/**
 * The model that the recording was created for, whichever is in use by now, and enters its digest. Where that model is
 * gone or another file has its place, what it did is forgotten and the model in use does all of it: half a transcript of
 * each would be worse.
 */
export async function bindModel(
  context: StepContext,
  { models, recordings }: { readonly models: RecordingModels; readonly recordings: Recordings },
): Promise<BoundModel> {
  const { recording, checkpoints, log } = context;
  const { id, speechModel, speechModelSha256 } = recording;
  let model = speechModel === null ? models.current() : models.find(speechModel);
  let sha256 = model === null ? null : await models.sha256Of(model);
  if (model === null || sha256 === null || (speechModelSha256 !== null && speechModelSha256 !== sha256)) {
    checkpoints.clear("language");
    checkpoints.clear("transcribe");
    model = models.current();
    sha256 = await models.sha256Of(model);
    log.warn({ event: "recording.model_gone", recordingId: id, model: speechModel, takes: model.id });
  }
  recordings.describe(id, { speechModel: model.id, speechModelSha256: sha256 });
  await models.admit(model, context.signal);
  return { ...model, languages: readModelLanguages(model.path) };
}
