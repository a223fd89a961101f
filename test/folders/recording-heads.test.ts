import { describe, expect, test } from "bun:test";
import { looksLikeRecording } from "../../src/folders/recording-heads.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

describe("a file", () => {
  test.each([
    ["WAVE", "RIFF\x24\x00\x00\nWAVEfmt "],
    ["AVI", "RIFF\x24\x00\x00\x00AVI LIST"],
    ["RF64", "RF64\xff\xff\xff\xffWAVEds64"],
    ["AIFF", "FORM\x00\x00\x00\x10AIFFCOMM"],
    ["MP3 with a tag", "ID3\x04\x00"],
    ["MP3", "\xff\xfb\x90\x64"],
    ["AAC", "\xff\xf1\x50\x80"],
    ["M4A", "\x00\x00\x00\x1cftypM4A "],
    ["QuickTime", "\x00\x00\x00\x08wide\x00\x00\x00\x00mdat"],
    ["Matroska", "\x1aE\xdf\xa3\x01"],
    ["Ogg", "OggS\x00\x02"],
    ["FLAC", "fLaC\x00\x00\x00\x22"],
    ["AMR", "#!AMR-WB\n"],
    ["ASF", "0&\xb2u\x8ef\xcf\x11\xa6\xd9"],
    ["MPEG-TS", `G${"\n".repeat(187)}G`],
    ["MPEG-TS with times", `\x00\x00\x00\nG${"x".repeat(191)}G`],
    ["MPEG program stream", "\x00\x00\x01\xba\x44"],
    ["a dictation", "\x03ds2\x00"],
  ])("counts as a recording by its beginning: %s", (_, text) => {
    expect(looksLikeRecording(bytes(text))).toBe(true);
  });

  test.each([
    ["nothing", ""],
    ["text", "root:x:0:0:root:/root:/bin/bash\n"],
    ["a script", "#!/bin/sh\n"],
    ["text in UTF-16", "\xff\xfea\x00b\x00"],
    ["text that begins with G", "G".padEnd(188, "x")],
    ["zeros", "\x00".repeat(512)],
    ["bytes of an erased disk", "\xff".repeat(512)],
    ["a program", "\x7fELF\x02\x01\x01"],
    ["a picture", "\xff\xd8\xff\xe0\x00\x10JFIF"],
    ["a picture in RIFF", "RIFF\x24\x00\x00\x00WEBPVP8 "],
    ["a picture in ISO BMFF", "\x00\x00\x00\x1cftypheic"],
    ["an archive", "PK\x03\x04"],
    ["a PDF", "%PDF-1.7"],
    ["a playlist", "#EXTM3U\n"],
    ["a database", "SQLite format 3\x00"],
  ])("counts as no recording: %s", (_, text) => {
    expect(looksLikeRecording(bytes(text))).toBe(false);
  });
});
