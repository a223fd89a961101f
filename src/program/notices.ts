import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { checkoutNotices } from "./checkout-notices.ts";
import { embedded } from "./embedded.ts";

const noticeSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    /** An SPDX expression where there is one. */
    licence: Type.String(),
    /** Where it comes from, and its source. */
    source: Type.String(),
    text: Type.String(),
  },
  { additionalProperties: false },
);

/** Under which licence a part of the program is passed on, in its makers' words. */
export type Notice = Static<typeof noticeSchema>;

/** The notice of every part: a compiled program carries those of what is in it, from source the packages are asked. */
export async function notices(): Promise<Notice[]> {
  if (embedded === null) return checkoutNotices();
  return Value.Parse(Type.Array(noticeSchema), await Bun.file(embedded.notices).json());
}
