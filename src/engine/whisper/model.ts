import type { NativeAddon, NativeModel } from "./addon.ts";
import type { ModelHeader } from "./model-header.ts";
import { createState } from "./state.ts";
import type { WhisperModel } from "./types.ts";

/** Wraps the native weights. */
export function createModel(parts: {
  addon: NativeAddon;
  native: NativeModel;
  header: ModelHeader;
  wordTimes: boolean;
}): WhisperModel {
  const { addon, native, header, wordTimes } = parts;
  const languages = native.languages();
  return {
    type: header.type,
    multilingual: native.multilingual(),
    languages,
    createState: () => createState({ native: new addon.State(native), languages, wordTimes }),
    dispose: () => native.dispose(),
  };
}
