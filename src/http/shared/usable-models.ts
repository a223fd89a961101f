import type { Language } from "../../speech/index.ts";

/** A model that a recording may use. */
export interface UsableModel {
  readonly id: string;
  readonly languages: readonly Language[];
}

/** The speech models of the server, as surfaces use them. */
export interface UsableModels {
  /** Returns the model that new recordings get. */
  current(): UsableModel;
  /** Returns the ids of the installed models, with the times of their files in milliseconds since the epoch. */
  installed(): readonly { readonly id: string; readonly createdAt: number }[];
  /** Returns an installed model. */
  find(id: string): UsableModel | null;
  /** Returns why a model cannot translate, with the models that can; null if it can. */
  translationRefusal(id: string): string | null;
}
