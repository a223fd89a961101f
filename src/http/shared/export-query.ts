import { Type } from "@sinclair/typebox";
import { contractFormats, exportLayoutSchema } from "../../exports/index.ts";

/** The query of an export in the contract of version 1. */
export const exportQuery = Type.Object({
  format: {
    ...Type.Union(contractFormats.map((format) => Type.Literal(format))),
    description: `one of ${contractFormats.join(", ")}`,
    documented: { description: "The format of the file.", example: "srt" },
  },
});

const { speakers, width, lines, words, media } = exportLayoutSchema.properties;
const cueText = "Only of subtitles: `srt`, `vtt`, `ttml`, `podcast`.";

/** A client's choices about the text and the form of an export. */
export const layoutQuery = Type.Object({
  text: Type.Optional({
    ...Type.Union([Type.Literal("transcript"), Type.Literal("translation")]),
    description: "transcript or translation",
    documented: {
      description: "The text of the file: the transcript, by default, or the translation to English.",
      example: "translation",
    },
  }),
  speakers: {
    ...speakers,
    description: "names, letters or none",
    documented: {
      description:
        "How speakers are written: with the names that people gave them, with letters, or not at all. With `names` and " +
        "`letters`, `srt` and `ttml` have `Name:` where the speaker changes. By default they name nobody, and the other " +
        "formats have letters. `tsv` and `lrc` have no speakers.",
      example: "names",
    },
  },
  width: {
    ...width,
    description: `a whole number from ${width.minimum} to ${width.maximum}`,
    documented: {
      description: `Maximum width of a line, in columns of a Latin letter; by default 42. ${cueText}`,
      example: 32,
    },
  },
  lines: {
    ...lines,
    description: "1 or 2",
    documented: { description: `Maximum lines of a subtitle; by default 2. ${cueText}` },
  },
  words: {
    ...words,
    description: `a whole number from ${words.minimum} to ${words.maximum}`,
    documented: { description: `Maximum words of a subtitle; by default as many as fit. ${cueText}` },
  },
  media: {
    ...media,
    description: "a file name of at most 255 characters, without slashes and control characters",
    documented: {
      description: "File name of the recording, which the annotation program opens. Only of `eaf` and `exb`.",
      example: "interview.wav",
    },
  },
});
