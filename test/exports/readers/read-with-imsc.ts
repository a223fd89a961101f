import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { fromXML } from "imsc/src/main/js/doc.js";
import { generateISD } from "imsc/src/main/js/isd.js";

/** The parts that are read of a document, in imsc's own form. */
const documentSchema = Type.Object({
  body: Type.Object({
    contents: Type.Tuple([
      Type.Object({
        contents: Type.Array(
          Type.Object({
            kind: Type.Literal("p"),
            begin: Type.Number(),
            end: Type.Number(),
            contents: Type.Array(Type.Object({ kind: Type.String(), text: Type.Optional(Type.String()) })),
          }),
        ),
      }),
    ]),
  }),
});

/** Number of paragraphs that are laid out, too. Each takes as long as the document is. */
const LAID_OUT = 50;

/** Reads TTML with imsc, which browsers' players use. @throws {Error} for whatever it complains about */
export function readWithImsc(xml: string) {
  const complain = (message: string) => {
    throw new Error(message);
  };
  const complaints = { info: () => false, warn: complain, error: complain, fatal: complain };
  const document: unknown = fromXML(xml, complaints);
  const [div] = Value.Decode(documentSchema, document).body.contents;
  return div.contents.map(({ begin, end, contents }, index) => {
    if (index < LAID_OUT) generateISD(document, (begin + end) / 2, complaints);
    const text = contents.map((part) => (part.kind === "br" ? "\n" : (part.text ?? ""))).join("");
    return { start: Math.round(begin * 1000), end: Math.round(end * 1000), speaker: null, text };
  });
}
