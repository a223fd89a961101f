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
import { type Direction, directionOfLanguage, directionOfText, hasRightToLeft } from "./direction.ts";
import {
  clockTime,
  documentDetails,
  documentTitle,
  type ExportDocument,
  type ExportHead,
  speakerName,
} from "./document.ts";
import { makeReproducible } from "./reproducible-zip.ts";
import { type Turn, toTurns } from "./turns.ts";

const faint = "66666D";
const speakerInk = "12406E";

/** Letters of scripts that run left to right, and what lies between them: a run of its own in a right-to-left paragraph. */
const leftToRightRuns =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}](?:[^\p{L}]*[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])*)/u;

/**
 * A transcript for word processors: real heading styles, languages and directions that spelling and reading aloud go by,
 * page numbers. Characters are drawn with the reader's own fonts.
 */
export async function writeDocx(document: ExportDocument): Promise<Uint8Array> {
  const title = documentTitle(document);
  const around = directionOfLanguage(document.language);
  const children = [
    new Paragraph({ heading: HeadingLevel.HEADING_1, ...directed(directionOfText(title)), children: runs(title) }),
    ...documentDetails(document).map(
      ({ label, value }) =>
        new Paragraph({
          style: "Details",
          children: [new TextRun({ text: `${label}: `, color: faint }), ...runs(value)],
        }),
    ),
  ];
  for await (const turn of toTurns(document.segments)) children.push(...turnParagraphs(document, turn, around));
  const file = new Document({
    title,
    creator: "Transcribe",
    lastModifiedBy: "Transcribe",
    styles: styles(document),
    sections: [
      {
        headers: { default: new Header({ children: [pageEdge(around, runs(title))] }) },
        footers: { default: new Footer({ children: [pageEdge(around, [pageNumber()])] }) },
        children,
      },
    ],
  });
  return makeReproducible(await Packer.toBuffer(file), new Date(document.createdAt));
}

function turnParagraphs(head: ExportHead, turn: Turn, around: Direction): Paragraph[] {
  return [
    new Paragraph({
      heading: HeadingLevel.HEADING_2,
      ...directed(around),
      children: [
        ...runs(speakerName(head, turn.speaker)),
        new TextRun({ text: `   ${clockTime(turn.startMilliseconds)}`, bold: false, color: faint }),
      ],
    }),
    new Paragraph({ ...directed(directionOfText(turn.text)), children: runs(turn.text) }),
  ];
}

/** Text in runs of one direction each. */
function runs(text: string): TextRun[] {
  if (!hasRightToLeft(text)) return [new TextRun(text)];
  // What the pattern captures stands at the odd places.
  return text
    .split(leftToRightRuns)
    .flatMap((part, index) => (part === "" ? [] : [new TextRun({ text: part, rightToLeft: index % 2 === 0 })]));
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

/** Sizes are half points, spaces twentieths of a point. */
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
        run: { size: 20, bold: true, color: speakerInk },
        paragraph: { spacing: { before: 240, after: 20 }, keepNext: true },
      },
    },
    paragraphStyles: [
      { id: "Details", name: "Details", basedOn: "Normal", run: { size: 19 }, paragraph: { spacing: { after: 0 } } },
      { id: "PageEdge", name: "Page edge", basedOn: "Normal", run: { size: 16, color: faint } },
    ],
  };
}

const eastAsian = new Set(["zh", "yue", "ja", "ko"]);

/** Word processors keep a language for each kind of script, and know it only with its region: `de-DE`. */
function textLanguage(language: string | null): Pick<IRunStylePropertiesOptions, "language"> {
  if (language === null) return {};
  const { language: code, region } = new Intl.Locale(language).maximize();
  const tag = region === undefined ? code : `${code}-${region}`;
  if (directionOfLanguage(language) === "rtl") return { language: { bidirectional: tag } };
  return { language: eastAsian.has(language) ? { eastAsia: tag } : { value: tag } };
}
