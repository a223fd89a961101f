import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { writeDocx } from "../../src/exports/docx.ts";
import { type ExportDocument, type ExportFormat, exportFormats } from "../../src/exports/index.ts";
import { writePdf } from "../../src/exports/pdf/index.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { askPython, installPythonPackages } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";
import { exportedBytes } from "../support/transcripts.ts";
import { transcripts } from "./readers/documents.ts";
import { entrySchema, inPdf, textOf, withoutPackages, withPackages } from "./readers/expected.ts";
import { readWithImsc } from "./readers/read-with-imsc.ts";

setDefaultTimeout(120_000);

const answerSchema = Type.Array(
  Type.Record(
    Type.String(),
    Type.Object({
      entries: Type.Array(entrySchema),
      problem: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
);
type Answer = Static<typeof answerSchema>;

const readers = join(import.meta.dir, "readers");
const python = Bun.which("python3");
if (python === null) console.warn("SKIPPED: exports read by other programs; missing: python3");
const packages = python === null ? null : await install();

async function install(): Promise<string | null> {
  try {
    return await installPythonPackages(defaultCacheRoot(), testPackages.exportReaders);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: exports read by packages, which cannot be installed: ${error.message}`);
    return null;
  }
}

/** Damages that a reader must report: the bytes that are replaced, and the reader's problem. */
const damages: readonly [reader: string, from: string, to: string, problem: RegExp][] = [
  ["json", "]}\n", "", /^JSONDecodeError/],
  ["csv", "One.", '"One.', /unexpected end of data/],
  ["tsv", "One.", "One\t.", /too many values/],
  ["eaf", 'TIME_VALUE="4000"', 'TIME_VALUE="9000"', /time slots are in order/],
  ["exb", 'time="1.000"', 'time="9.000"', /timeline is in order/],
  ["whisper", '"word"', '"text"', /^AssertionError/],
  ["podcast", '"body"', '"text"', /^AssertionError/],
  ["ttml with ttconv", 'style="s1"', 'style="s9"', /the reader says/],
  ["md with markdown-it", "One.", "*One*", /no markup/],
  ["eaf with pympi", ' VERSION="3.0"', ' VERSION="9.0"', /^UserWarning/],
  ["srt with pysubs2", "One.", "\xff", /^UnicodeDecodeError/],
  ["vtt with pysubs2", "One.", "\xff", /^UnicodeDecodeError/],
  ["vtt with webvtt-py", "00:00:00.000 -->", "00:00:00.00 -->", /^MalformedCaptionError/],
  ["lrc with lrcparser", "[00:00.00]", "[offset:x]", /^ValueError/],
  ["rttm with pyannote", " A ", " <NA> ", /not JSON compliant/],
  ["textgrid with praatio", "xmin = 3 ", "xmin = 9 ", /^TextgridStateError/],
  ["textgrid with Praat", "xmin = 3 ", "xmin = 9 ", /^PraatError/],
  ["docx with python-docx", "PK\x05\x06", "", /^PackageNotFoundError/],
  ["pdf with PDFium", "%PDF-", "%TXT-", /^PdfiumError/],
];
const names = Object.keys(transcripts);

/** Returns the bytes of an export. The child process of PDF and DOCX would load their fonts and packages each time. */
async function bytesOf(format: ExportFormat, document: ExportDocument): Promise<Uint8Array> {
  if (format === "pdf") return await writePdf(document);
  return format === "docx" ? await writeDocx(document) : await exportedBytes(format, document);
}

/** Exports all transcripts in all formats, and the damaged files, each into a folder of its own. */
async function writeAll(parent: string): Promise<string[]> {
  for (const [name, { document }] of Object.entries(transcripts)) {
    const write = async (format: ExportFormat) =>
      await Bun.write(join(parent, name, `export.${format}`), await bytesOf(format, document));
    await Promise.all(exportFormats.map(write));
  }
  for (const [index, [reader, from, to]] of damages.entries()) {
    const file = `export.${reader.split(" ")[0]}`;
    const whole = Buffer.from(await Bun.file(join(parent, "overlapping segments", file)).bytes()).toString("latin1");
    expect(whole).toContain(from);
    await Bun.write(join(parent, String(index), file), Buffer.from(whole.replace(from, to), "latin1"));
  }
  return [...names, ...damages.keys()].map((name) => join(parent, String(name)));
}

describe("exports as TTML", () => {
  const ttmlOf = async ({ document }: (typeof transcripts)[string]) =>
    Buffer.from(await exportedBytes("ttml", document)).toString();

  test.each(Object.entries(transcripts))("with %s are read by imsc", async (_, expected) => {
    const { "ttml with ttconv": subtitles } = await withPackages(expected);
    expect(readWithImsc(await ttmlOf(expected))).toEqual<unknown>(subtitles.entries);
  });

  test("damaged for imsc are a problem", async () => {
    const [first] = Object.values(transcripts);
    if (first === undefined) throw new Error("there are no transcripts");
    const damaged = (await ttmlOf(first)).replace('style="s1"', 'style="s9"');
    expect(() => readWithImsc(damaged)).toThrow("Non-existant style");
  });
});

describe.if(python !== null)("exports", () => {
  let plain: Answer = [];
  let packaged: Answer = [];
  beforeAll(async () => {
    using parent = temporaryDirectory();
    const question = { directories: await writeAll(parent.path) };
    const answerOf = (script: string, from: string) => askPython(join(readers, script), from, question, answerSchema);
    [plain, packaged] = await Promise.all([
      answerOf("read-exports.py", ""),
      packages === null ? [] : answerOf("read-with-packages.py", packages),
    ]);
  });

  test.each(Object.entries(transcripts))("with %s are read by Python", async (name, expected) => {
    expect(plain[names.indexOf(name)] ?? {}).toEqual<unknown>(await withoutPackages(expected));
  });

  test.if(packages !== null).each(Object.entries(transcripts))(
    "with %s are read by packages",
    async (name, expected) => {
      const { "pdf with PDFium": pdf, ...found } = packaged[names.indexOf(name)] ?? {};
      expect(found).toEqual<unknown>(await withPackages(expected));
      // No text is lost where the formats split or join segments.
      const whole = textOf((await withoutPackages(expected)).csv.entries);
      expect(textOf(found["vtt with webvtt-py"]?.entries)).toBe(whole);
      expect(textOf(found["docx with python-docx"]?.entries.filter(({ speaker }) => speaker === "Normal"))).toBe(whole);

      expect(pdf?.problem).toBeNull();
      let rest = (pdf?.entries ?? []).map((page) => textOf([page]).replace(/(meeting|null)\d+\/\d+$/, "")).join("");
      for (const text of await inPdf(expected)) {
        expect(rest).toContain(text);
        rest = rest.slice(rest.indexOf(text) + text.length);
      }
    },
  );

  for (const [index, [reader, , to, problem]] of damages.entries()) {
    test.if(packages !== null || !reader.includes(" with "))(
      `damaged for ${reader} are a problem (${JSON.stringify(to)})`,
      () => {
        const results = { ...plain[names.length + index], ...packaged[names.length + index] };
        expect(results[reader]?.problem).toMatch(problem);
      },
    );
  }
});
