import { type ExportDocument, languageInWords } from "./document.ts";
import { type Annotation, endOfTiers, readTiers, type Tier } from "./tiers.ts";
import { xmlAttribute, xmlText } from "./xml-text.ts";

/** Writes a Praat TextGrid in the long text form, with an interval tier for each speaker. */
export async function* writeTextGrid(document: ExportDocument): AsyncGenerator<string> {
  const tiers = await readTiers(document);
  const end = endOfTiers(document, tiers);
  yield `File type = "ooTextFile"\nObject class = "TextGrid"\n\n${span("", 0, end)}`;
  yield `tiers? <exists> \nsize = ${tiers.length} \nitem []: \n`;
  for (const [index, { name, annotations }] of tiers.entries()) {
    const intervals = intervalsOf(annotations, end);
    yield `    item [${index + 1}]:\n        class = "IntervalTier" \n        name = ${praatString(name)} \n`;
    yield `${span("        ", 0, end)}        intervals: size = ${intervals.length} \n`;
    for (const [position, { startMilliseconds, endMilliseconds, text }] of intervals.entries()) {
      const times = span("            ", startMilliseconds, endMilliseconds);
      yield `        intervals [${position + 1}]:\n${times}            text = ${praatString(text)} \n`;
    }
  }
}

/** Returns the annotations with empty intervals in between, because an interval tier covers all of its time. */
function intervalsOf(annotations: readonly Annotation[], end: number): Annotation[] {
  const intervals: Annotation[] = [];
  let reached = 0;
  const fill = (until: number) => {
    if (until > reached) intervals.push({ startMilliseconds: reached, endMilliseconds: until, text: "" });
  };
  for (const annotation of annotations) {
    fill(annotation.startMilliseconds);
    intervals.push(annotation);
    reached = annotation.endMilliseconds;
  }
  fill(end);
  return intervals;
}

function span(indent: string, startMilliseconds: number, endMilliseconds: number): string {
  return `${indent}xmin = ${startMilliseconds / 1000} \n${indent}xmax = ${endMilliseconds / 1000} \n`;
}

function praatString(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/**
 * Writes an annotation document of ELAN (EAF 3.0), with a tier for each speaker. Every annotation has time slots of its
 * own, so that moving one in ELAN does not move another.
 */
export async function* writeEaf(document: ExportDocument): AsyncGenerator<string> {
  const tiers = await readTiers(document);
  const { language } = document;
  const media = document.layout?.media;
  const slots = timeSlots(tiers);
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<ANNOTATION_DOCUMENT AUTHOR="" DATE="${new Date(document.createdAt).toISOString()}" FORMAT="3.0" VERSION="3.0"`;
  yield ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  yield ' xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">\n';
  yield ' <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">\n';
  if (media !== undefined) yield `  <MEDIA_DESCRIPTOR ${mediaAttributes(media)}/>\n`;
  yield `  <PROPERTY NAME="lastUsedAnnotationId">${slots.length / 2}</PROPERTY>\n </HEADER>\n <TIME_ORDER>\n`;
  for (const [index, { milliseconds }] of slots.entries()) {
    yield `  <TIME_SLOT TIME_SLOT_ID="ts${index + 1}" TIME_VALUE="${milliseconds}"/>\n`;
  }
  yield " </TIME_ORDER>\n";

  const slotIds = slotIdsOf(slots);
  const languageReference = language === null ? "" : ` LANG_REF="${xmlAttribute(language)}"`;
  let annotation = 0;
  for (const { name, speaker, annotations } of tiers) {
    const names = `TIER_ID="${xmlAttribute(name)}" PARTICIPANT="${xmlAttribute(speaker)}"`;
    yield ` <TIER LINGUISTIC_TYPE_REF="default-lt" ${names}${languageReference}>\n`;
    for (const { text } of annotations) {
      const from = slotIds[annotation * 2];
      const to = slotIds[annotation * 2 + 1];
      annotation++;
      yield `  <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a${annotation}" TIME_SLOT_REF1="ts${from}" ` +
        `TIME_SLOT_REF2="ts${to}"><ANNOTATION_VALUE>${xmlText(text)}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n`;
    }
    yield " </TIER>\n";
  }
  yield ' <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt" TIME_ALIGNABLE="true"/>\n';
  if (language !== null) {
    yield ` <LANGUAGE LANG_ID="${xmlAttribute(language)}" LANG_LABEL="${xmlAttribute(languageInWords(language))}"/>\n`;
  }
  yield "</ANNOTATION_DOCUMENT>\n";
}

/** Returns the attributes that name a recording next to the annotation document, in which ELAN looks for it. */
function mediaAttributes(name: string): string {
  // ELAN takes a space or a letter with an accent as it is, and does not decode them.
  const url = xmlAttribute(`./${name.toWellFormed()}`);
  // ELAN knows WAV by this type only.
  const type = /\.wav$/i.test(name) ? "audio/x-wav" : (Bun.file(name).type.split(";")[0] ?? "");
  return `MEDIA_URL="${url}" MIME_TYPE="${xmlAttribute(type)}" RELATIVE_MEDIA_URL="${url}"`;
}

/** The start or the end of an annotation; `edge` is twice the number of the annotation, plus one for its end. */
interface TimeSlot {
  readonly milliseconds: number;
  readonly edge: number;
}

/** Returns the starts and ends of all annotations, in order of time. */
function timeSlots(tiers: readonly Tier[]): TimeSlot[] {
  const slots: TimeSlot[] = [];
  for (const { annotations } of tiers) {
    for (const { startMilliseconds, endMilliseconds } of annotations) {
      slots.push({ milliseconds: startMilliseconds, edge: slots.length });
      slots.push({ milliseconds: endMilliseconds, edge: slots.length });
    }
  }
  return slots.sort((a, b) => a.milliseconds - b.milliseconds || a.edge - b.edge);
}

/** Returns the number of each edge's time slot, from 1. */
function slotIdsOf(slots: readonly TimeSlot[]): Uint32Array {
  const ids = new Uint32Array(slots.length);
  for (const [index, { edge }] of slots.entries()) ids[edge] = index + 1;
  return ids;
}
