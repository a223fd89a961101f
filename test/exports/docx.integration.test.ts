import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { writeDocx } from "../../src/exports/docx.ts";
import type { ExportDocument } from "../../src/exports/index.ts";
import { cleanText } from "../../src/text/index.ts";
import { hostileTexts, samples, transcript } from "../support/transcripts.ts";

setDefaultTimeout(60_000);

async function parts(document: ExportDocument): Promise<Record<string, string>> {
  const entries = Object.entries(unzipSync(await writeDocx(document)));
  return Object.fromEntries(entries.map(([name, bytes]) => [name, strFromU8(bytes)]));
}

test("a document has heading styles, a header, page numbers, title and date", async () => {
  const files = await parts(transcript(["Good morning.", "Hello."]));
  const body = files["word/document.xml"] ?? "";
  expect(body.match(/<w:pStyle w:val="Heading1"\/>/g)).toHaveLength(1);
  expect(body.match(/<w:pStyle w:val="Heading2"\/>/g)).toHaveLength(2);
  expect(files["word/header1.xml"]).toContain("meeting");
  expect(files["word/footer1.xml"]).toMatch(/PAGE.*NUMPAGES/s);
  expect(files["docProps/core.xml"]).toContain("<dc:title>meeting</dc:title>");
  expect(files["docProps/core.xml"]).toContain("2026-11-21T08:05:00Z");
});

const languages: [string | null, RegExp][] = [
  ["de", /<w:lang w:val="de-DE"\/>/],
  ["ja", /<w:lang w:eastAsia="ja-JP"\/>/],
  ["ar", /<w:lang w:bidi="ar-EG"\/>/],
  [null, /<w:docDefaults>(?!.*<w:lang)/s],
];
test.each(languages)("%s: the document has the language for spell checking", async (language, expected) => {
  expect((await parts(transcript(["x"], { language })))["word/styles.xml"]).toMatch(expected);
});

test("right-to-left paragraphs and runs are marked, Latin words in them are not", async () => {
  const body = (await parts(transcript(["שלום Google עולם"], { language: "he" })))["word/document.xml"] ?? "";
  expect(body).toContain('<w:pStyle w:val="Heading2"/><w:bidi/>');
  expect(body).toContain(
    '<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr><w:t xml:space="preserve">שלום </w:t></w:r>' +
      '<w:r><w:rPr></w:rPr><w:t xml:space="preserve">Google</w:t></w:r>' +
      '<w:r><w:rPr><w:rtl/></w:rPr><w:t xml:space="preserve"> עולם</w:t></w:r></w:p>',
  );
});

test("a decomposed letter stays in one run with its accent", async () => {
  const body = (await parts(transcript(["שלום Rene\u0301 עולם"])))["word/document.xml"] ?? "";
  expect(body).toContain('<w:t xml:space="preserve">Rene\u0301</w:t>');
});

const python = Bun.which("python3");
if (python === null) console.warn("SKIPPED: DOCX read by another program; missing: python3");

/** Prints style and text of each paragraph as JSON, after reading every part as XML. */
const reader = `
import json, sys, zipfile, xml.etree.ElementTree as xml
w = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
package = zipfile.ZipFile(sys.argv[1])
assert package.testzip() is None
trees = {name: xml.fromstring(package.read(name)) for name in package.namelist() if name.endswith((".xml", ".rels"))}
for p in trees["word/document.xml"].iter(w + "p"):
    style = p.find(f"{w}pPr/{w}pStyle")
    print(json.dumps(["" if style is None else style.get(w + "val"), "".join(t.text or "" for t in p.iter(w + "t"))]))
`;

describe.if(python !== null)("another program reads", () => {
  async function read(document: ExportDocument): Promise<string[][]> {
    using directory = temporaryDirectory();
    const path = join(directory.path, "transcript.docx");
    await Bun.write(path, await writeDocx(document));
    const child = Bun.spawn([python ?? "", "-c", reader, path], { stderr: "pipe" });
    const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, errors]).toEqual([0, ""]);
    return output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  test("a word processor reads headings and text in order", async () => {
    expect(await read(transcript(["Good morning.", "Hello <b>there</b>."]))).toEqual([
      ["Heading1", "meeting"],
      ["Details", "Date: 21 November 2026 at 08:05 UTC"],
      ["Details", "Length: 00:00:08"],
      ["Details", "Language: English"],
      ["Details", "Speakers: A, B"],
      ["Heading2", "A   00:00:00"],
      ["", "Good morning."],
      ["Heading2", "B   00:00:04"],
      ["", "Hello <b>there</b>."],
    ]);
  });

  test("a word processor reads every script and hostile texts unchanged", async () => {
    const texts = [...Object.values(samples).flat(), ...Object.values(hostileTexts)];
    const title = hostileTexts.tags ?? "";
    const paragraphs = await read(transcript(texts, { title, language: null }));
    const spoken = paragraphs.filter(([style]) => style === "").map(([, text]) => text);
    expect(spoken).toEqual(texts.map((text) => cleanText(text)).filter((text) => text !== ""));
    expect(paragraphs[0]).toEqual(["Heading1", cleanText(title)]);
  });
});
