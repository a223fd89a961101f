import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { PDFDict, PDFDocument, PDFName } from "@cantoo/pdf-lib";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import type { ExportDocument } from "../../../src/exports/index.ts";
import { writePdf } from "../../../src/exports/pdf/index.ts";
import { hostileTexts, samples, segment, transcript } from "../../support/transcripts.ts";

setDefaultTimeout(60_000);

const hours = transcript([], {
  durationSeconds: 7200,
  segments: Array.from({ length: 400 }, (_, index) =>
    segment(
      `This is what was said in sentence number ${index}, and a little more.`,
      index * 18,
      index * 18 + 9,
      index % 3,
    ),
  ),
});

test("the same document gives the same bytes", async () => {
  const document = transcript(Object.values(samples).flat());
  const [first, second] = [await writePdf(document), await writePdf(document)];
  expect(Buffer.from(first).equals(Buffer.from(second))).toBe(true);
  expect(Buffer.from(first).equals(await writePdf({ ...document, createdAt: 0 }))).toBe(false);
});

test("a file contains only the used glyphs", async () => {
  expect((await writePdf(transcript(samples.zh ?? []))).length).toBeLessThan(40_000);
});

test("a file has title, language, tags and outline for viewers and screen readers", async () => {
  const pdf = await PDFDocument.load(await writePdf({ ...hours, language: "de" }), { updateMetadata: false });
  expect(pdf.getTitle()).toBe("meeting");
  expect(pdf.getCreationDate()).toEqual(new Date(hours.createdAt));
  expect(String(pdf.catalog.get(PDFName.of("Lang")))).toContain("de");
  expect(String(pdf.catalog.lookup(PDFName.of("MarkInfo")))).toContain("/Marked true");
  expect(pdf.catalog.lookup(PDFName.of("StructTreeRoot"))).toBeInstanceOf(PDFDict);
  const outline = pdf.catalog.lookup(PDFName.of("Outlines"), PDFDict);
  expect(Number(String(outline.get(PDFName.of("Count"))))).toBeWithin(30, 70);
  expect(pdf.getPageCount()).toBeGreaterThan(10);
});

test.each(Object.entries(hostileTexts))("%s: hostile texts become a valid file", async (_name, text) => {
  const document = transcript([text, "Fine."], { title: text, speakers: [text, text], language: null });
  expect((await PDFDocument.load(await writePdf(document))).getPageCount()).toBeGreaterThan(0);
});

test("a recording without segments has one page", async () => {
  expect((await PDFDocument.load(await writePdf(transcript([])))).getPageCount()).toBe(1);
});

const poppler = ["pdftotext", "pdffonts", "pdfinfo"].every((tool) => Bun.which(tool) !== null);
if (!poppler) console.warn("SKIPPED: PDF read by other programs; missing: pdftotext (Debian's poppler-utils)");

/** White space, and the marks that poppler writes around text of another direction. */
const withoutBlanks = (text: string) => text.replace(/[\s\u200e\u200f\u202a-\u202e]+/g, "");

describe.if(poppler)("poppler reads", () => {
  async function read(document: ExportDocument, ...command: string[]): Promise<string> {
    using directory = temporaryDirectory();
    const path = join(directory.path, "transcript.pdf");
    await Bun.write(path, await writePdf(document));
    const child = Bun.spawn(
      command.map((part) => (part === "FILE" ? path : part)),
      { stderr: "pipe" },
    );
    const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, errors]).toEqual([0, ""]);
    return output;
  }

  test.each(Object.entries(samples))("%s in logical order", async (language, texts) => {
    // Repeats the text, because pdftotext derives the direction of a page from the number of its letters.
    const text = await read(transcript(Array(5).fill(texts).flat(), { language }), "pdftotext", "FILE", "-");
    for (const sample of texts) expect(withoutBlanks(text)).toContain(withoutBlanks(sample));
  });

  test.each(Object.entries(hostileTexts))("%s without warnings", async (_name, text) => {
    await read(transcript([text], { title: text }), "pdftotext", "FILE", "-");
  });

  test("markup as text", async () => {
    const text = await read(transcript(["a <b>bold</b> &amp; --> word"]), "pdftotext", "FILE", "-");
    expect(text).toContain("a <b>bold</b> &amp; --> word");
  });

  test("fonts that are all embedded, subset and readable", async () => {
    const fonts = (await read(transcript(Object.values(samples).flat()), "pdffonts", "FILE"))
      .trim()
      .split("\n")
      .slice(2);
    expect(fonts.length).toBeGreaterThan(20);
    for (const font of fonts) expect(font).toMatch(/CID TrueType +Identity-H +yes yes yes/);
  });

  test("the title and every turn as headings", async () => {
    const structure = await read(transcript(["Good morning.", "Hello."]), "pdfinfo", "-struct-text", "FILE");
    const items = structure
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    expect(items.slice(0, 4)).toEqual(["Document", "Sect", "H1 (block)", '"meeting"']);
    expect(items.slice(-8)).toEqual([
      "H2 (block)",
      '"A   00:00:00"',
      "P (block)",
      '"Good morning."',
      "H2 (block)",
      '"B   00:00:04"',
      "P (block)",
      '"Hello."',
    ]);
  });

  test("a number on every page, and no heading alone at the end of a page", async () => {
    const pages = (await read(hours, "pdftotext", "-layout", "FILE", "-")).split("\f").slice(0, -1);
    pages.forEach((page, index) => {
      const lines = page
        .trim()
        .split("\n")
        .filter((line) => line.trim() !== "");
      expect(lines.at(-1)).toMatch(new RegExp(`^meeting +${index + 1} ?/ ?${pages.length}$`));
      expect(lines.at(-2)).not.toMatch(/\d\d:\d\d:\d\d$/);
    });
  });
});
