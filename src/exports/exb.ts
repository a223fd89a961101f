import { documentTitle, type ExportDocument } from "./document.ts";
import { readTiers, type Tier } from "./tiers.ts";
import { xmlAttribute, xmlText } from "./xml-text.ts";

/**
 * Writes a basic transcription of EXMARaLDA's Partitur-Editor (EXB), with a tier for each speaker. All tiers share one
 * timeline.
 */
export async function* writeExb(document: ExportDocument): AsyncGenerator<string> {
  const tiers = await readTiers(document);
  const media = (document.layout?.media ?? "").toWellFormed();
  const points = pointsOf(tiers);
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<basic-transcription>\n  <head>\n    <meta-information>\n';
  yield `      <project-name/>\n      <transcription-name>${xmlText(documentTitle(document))}</transcription-name>\n`;
  yield `      <referenced-file url="${xmlAttribute(media)}"/>\n      <ud-meta-information/>\n      <comment/>\n`;
  yield "      <transcription-convention/>\n    </meta-information>\n    <speakertable>\n";
  const speakers = [...new Set(tiers.map(({ speaker }) => speaker))];
  for (const [index, name] of speakers.entries()) yield speakerEntry(index, name, document.language);
  yield "    </speakertable>\n  </head>\n  <basic-body>\n    <common-timeline>\n";
  for (const [milliseconds, index] of points) {
    yield `      <tli id="T${index}" time="${(milliseconds / 1000).toFixed(3)}" type="appl"/>\n`;
  }
  yield "    </common-timeline>\n";
  for (const [index, { name, speaker, annotations }] of tiers.entries()) {
    const who = `speaker="SPK${speakers.indexOf(speaker)}"`;
    yield `    <tier id="TIE${index}" ${who} category="v" type="t" display-name="${xmlAttribute(name)} [v]">\n`;
    for (const { startMilliseconds, endMilliseconds, text } of annotations) {
      const span = `start="T${points.get(startMilliseconds)}" end="T${points.get(endMilliseconds)}"`;
      // Events that follow each other are read as one text, so each ends with a space.
      yield `      <event ${span}>${xmlText(text)} </event>\n`;
    }
    yield "    </tier>\n";
  }
  yield "  </basic-body>\n</basic-transcription>\n";
}

/** Returns the number of each moment at which an annotation begins or ends, in order of time. */
function pointsOf(tiers: readonly Tier[]): Map<number, number> {
  const moments = new Set<number>();
  for (const { annotations } of tiers) {
    for (const { startMilliseconds, endMilliseconds } of annotations) {
      moments.add(startMilliseconds).add(endMilliseconds);
    }
  }
  return new Map([...moments].sort((a, b) => a - b).map((milliseconds, index) => [milliseconds, index]));
}

function speakerEntry(index: number, name: string, language: string | null): string {
  const languages = language === null ? "" : `<language lang="${xmlAttribute(language)}"/>`;
  return (
    `      <speaker id="SPK${index}">\n        <abbreviation>${xmlText(name)}</abbreviation>\n        <sex value="u"/>\n` +
    `        <languages-used>${languages}</languages-used>\n        <l1/>\n        <l2/>\n` +
    "        <ud-speaker-information/>\n        <comment/>\n      </speaker>\n"
  );
}
