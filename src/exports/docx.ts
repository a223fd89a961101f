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
import { type Direction, directionOfLanguage, directionOfText } from "./direction.ts";
import { documentDetails, documentTitle, type ExportDocument, type ExportHead } from "./document.ts";
import { finishPackage } from "./docx-package.ts";
import { colors, directedRuns, turnXml } from "./docx-xml.ts";
import { toTurns } from "./turns.ts";

/**
 * Writes a transcript for word processors, with real heading styles and page numbers. Languages and directions are set
 * for spell checking and reading aloud. The reader's own fonts are used.
 */
export async function writeDocx(document: ExportDocument): Promise<Uint8Array> {
  const title = documentTitle(document);
  const around = directionOfLanguage(document.language);
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
        footers: { default: new Footer({ children: [pageEdge(around, [pageNumber()])] }) },
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

function pageNumber(): TextRun {
  return new TextRun({ children: [PageNumber.CURRENT, " / ", PageNumber.TOTAL_PAGES] });
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
