/** The reason why a voice was not stored or changed. Each surface has its own words for it. */
export type VoiceRefusal =
  | "disabled"
  | "not_found"
  | "bad_name"
  | "name_taken"
  | "no_name"
  | "unclear"
  | "different_voice"
  | "too_many"
  | "no_proposal";

/** A voice was not stored or changed. */
export class VoicesError extends Error {
  override readonly name = "VoicesError";

  constructor(readonly refusal: VoiceRefusal) {
    super(refusal);
  }
}
