import { type Cue, toCues } from "./cues.ts";
import { directionOfText } from "./direction.ts";
import { asksForSpeakers, documentTitle, type ExportDocument, timestamp } from "./document.ts";
import { xmlAttribute, xmlText } from "./xml-text.ts";

const namespaces = [
  'xmlns="http://www.w3.org/ns/ttml"',
  'xmlns:ttp="http://www.w3.org/ns/ttml#parameter"',
  'xmlns:tts="http://www.w3.org/ns/ttml#styling"',
  'xmlns:ttm="http://www.w3.org/ns/ttml#metadata"',
  'xmlns:ebuttm="urn:ebu:tt:metadata"',
  'xmlns:ebutts="urn:ebu:tt:style"',
].join(" ");

/** Styles and the region at the bottom of the picture, as broadcasters use them. */
const head = `    <styling>
      <style xml:id="s0" tts:fontFamily="proportionalSansSerif" tts:fontSize="100%" tts:lineHeight="normal" tts:textAlign="center" ebutts:linePadding="0.5c"/>
      <style xml:id="s1" tts:color="#ffffff" tts:backgroundColor="#000000c2"/>
      <style xml:id="s2" tts:direction="rtl"/>
    </styling>
    <layout>
      <region xml:id="r0" tts:origin="10% 10%" tts:extent="80% 80%" tts:displayAlign="after"/>
    </layout>
`;

/**
 * Writes EBU-TT-D (EBU Tech 3380), the profile of TTML that European broadcasters exchange and browsers' players show;
 * it is also a document of the text profile of IMSC 1.1.
 */
export async function* writeTtml(document: ExportDocument): AsyncGenerator<string> {
  const language = xmlAttribute(document.language ?? "");
  const profiles = "urn:ebu:tt:distribution:2018-04";
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<tt ${namespaces} xml:lang="${language}" xml:space="default" ttp:timeBase="media" ttp:cellResolution="32 15">\n`;
  yield `  <head>\n    <metadata>\n      <ttm:title>${xmlText(documentTitle(document))}</ttm:title>\n`;
  yield "      <ebuttm:documentMetadata>\n";
  yield `        <ebuttm:conformsToStandard>${profiles}</ebuttm:conformsToStandard>\n`;
  yield `      </ebuttm:documentMetadata>\n    </metadata>\n${head}  </head>\n  <body>\n    <div style="s0">\n`;
  let number = 0;
  for await (const cue of toCues(document, asksForSpeakers(document))) yield paragraph(cue, ++number);
  yield "    </div>\n  </body>\n</tt>\n";
}

function paragraph({ startMilliseconds, endMilliseconds, lines }: Cue, number: number): string {
  const times = `begin="${timestamp(startMilliseconds, ".")}" end="${timestamp(endMilliseconds, ".")}"`;
  const text = lines.map((line) => `<span style="s1">${xmlText(line)}</span>`).join("<br/>");
  // The direction of a paragraph is that of its cue, so that a full stop stands behind the last word.
  const direction = directionOfText(lines.join(" ")) === "rtl" ? 'style="s2" ' : "";
  return `      <p xml:id="p${number}" region="r0" ${direction}${times}>${text}</p>\n`;
}
