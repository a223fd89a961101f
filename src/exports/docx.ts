import {
  Document,
  Footer,
  Header,
  HeadingLevel,
  type IRunStylePropertiesOptions,
  type IStylesOptions,
  Packer,
  PageNumber,
  Paragraph,
  TextRun,
} from "docx";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { type Direction, directionOfLanguage, directionOfText } from "./direction.ts";
import { documentDetails, documentTitle, type ExportDocument, type ExportHead } from "./document.ts";
import { colors, directedRuns, turnXml } from "./docx-xml.ts";
import { toTurns } from "./turns.ts";

/**
 * Writes a transcript for word processors, with real heading styles and page numbers. Languages and directions are set
 * for spell checking and reading aloud. The reader's own fonts are used.
 */
export async function writeDocx(document: ExportDocument): Promise<Uint8Array> {
  const title = documentTitle(document);
  const around = directionOfLanguage(document.language);
  const pageNumber = new TextRun({ children: [PageNumber.CURRENT, " / ", PageNumber.TOTAL_PAGES] });
  const head = [
    new Paragraph({ heading: HeadingLevel.HEADING_1, ...directed(directionOfText(title)), children: runs(title) }),
    ...documentDetails(document).map(({ label, value }) => {
      const children = [new TextRun({ text: `${label}: `, color: colors.faint }), ...runs(value)];
      return new Paragraph({ style: "Details", children });
    }),
  ];
  const file = new Document({
    title,
    creator: "Transcribe",
    lastModifiedBy: "Transcribe",
    styles: styles(document),
    sections: [
      {
        headers: { default: new Header({ children: [pageEdge(around, runs(title))] }) },
        footers: { default: new Footer({ children: [pageEdge(around, [pageNumber])] }) },
        children: head,
      },
    ],
  });
  const turns: string[] = [];
  for await (const turn of toTurns(document.segments)) turns.push(turnXml(document, turn));
  return finishPackage(await Packer.toBuffer(file), turns.join(""), new Date(document.createdAt));
}

function runs(text: string): TextRun[] {
  return directedRuns(text).map((run) => new TextRun(run.rightToLeft ? run : run.text));
}

function directed(direction: Direction): { bidirectional?: true } {
  return direction === "rtl" ? { bidirectional: true } : {};
}

function pageEdge(direction: Direction, children: TextRun[]): Paragraph {
  return new Paragraph({ style: "PageEdge", ...directed(direction), children });
}

/** Returns the document's styles. Sizes are in half points, spaces in twentieths of a point. */
function styles({ language }: ExportHead): IStylesOptions {
  const font = { ascii: "Calibri", hAnsi: "Calibri", cs: "Arial" };
  return {
    default: {
      document: {
        run: { font, size: 22, ...textLanguage(language) },
        paragraph: { spacing: { line: 300 } },
      },
      heading1: { run: { size: 40, bold: true }, paragraph: { spacing: { after: 120 } } },
      heading2: {
        run: { size: 20, bold: true, color: colors.speaker },
        paragraph: { spacing: { before: 240, after: 20 }, keepNext: true },
      },
    },
    paragraphStyles: [
      { id: "Details", name: "Details", basedOn: "Normal", run: { size: 19 }, paragraph: { spacing: { after: 0 } } },
      { id: "PageEdge", name: "Page edge", basedOn: "Normal", run: { size: 16, color: colors.faint } },
    ],
  };
}

const eastAsian = new Set(["zh", "yue", "ja", "ko"]);

/**
 * Returns the language of a run. Word processors store one language for each kind of script and recognize it only with
 * its region: `de-DE`.
 */
function textLanguage(language: string | null): Pick<IRunStylePropertiesOptions, "language"> {
  if (language === null) return {};
  const { language: code, region } = new Intl.Locale(language).maximize();
  const tag = region === undefined ? code : `${code}-${region}`;
  if (directionOfLanguage(language) === "rtl") return { language: { bidirectional: tag } };
  return { language: eastAsian.has(language) ? { eastAsia: tag } : { value: tag } };
}

/** The earliest time that ZIP can store. It is intentionally a local time, because the library writes local time. */
const fixedTime = new Date(1980, 0, 1);
const dates = /(<dcterms:(?:created|modified)[^>]*>)[^<]*/g;
/** The start of the properties that end a document's last section. The text is inserted before them. */
const sectionEnd = "<w:sectPr";

/**
 * Appends paragraphs to a document and makes its bytes reproducible: parts are sorted, their times are fixed, and
 * `created` replaces the creation time.
 * @throws {Error} when the package does not have the structure that the library writes
 */
function finishPackage(zip: Uint8Array, paragraphs: string, created: Date): Uint8Array {
  const parts = unzipSync(zip);
  const change = (name: string, edit: (xml: string) => string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`the document has no ${name}`);
    parts[name] = strToU8(edit(strFromU8(part)));
  };
  const time = created.toISOString().replace(/\.\d+Z$/, "Z");
  change("docProps/core.xml", (xml) => xml.replace(dates, (_all, opening: string) => opening + time));
  change("word/document.xml", (xml) => {
    const end = xml.lastIndexOf(sectionEnd);
    if (end < 0) throw new Error("the document has no section");
    return xml.slice(0, end) + paragraphs + xml.slice(end);
  });
  const names = Object.keys(parts).sort();
  return zipSync(Object.fromEntries(names.map((name) => [name, parts[name] ?? new Uint8Array()])), {
    mtime: fixedTime,
  });
}
