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
    /** Its origin and the address of its source. */
    source: Type.String(),
    text: Type.String(),
  },
  { additionalProperties: false },
);

/** The licence under which a part of the program is distributed, in its makers' words. */
export type Notice = Static<typeof noticeSchema>;

/** Returns the notice of every part: embedded in a compiled program, else read from the packages. */
export async function notices(): Promise<Notice[]> {
  if (embedded === null) return checkoutNotices();
  return Value.Parse(Type.Array(noticeSchema), await Bun.file(embedded.notices).json());
}
