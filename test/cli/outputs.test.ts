import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { planOutputs, writeOutput } from "../../src/cli/outputs.ts";

const bytes = new TextEncoder().encode("new");

describe("the outputs of a command line", () => {
  test("are none without a format and an output", () => {
    expect(planOutputs(["a.mp3", "b.mp3"], {})).toEqual([null, null]);
  });

  test.each([
    ["out.srt", undefined, "srt"],
    ["out.SRT", undefined, "srt"],
    ["out", undefined, "txt"],
    ["-", undefined, "txt"],
    ["-", "vtt", "vtt"],
    ["out.txt", "pdf", "pdf"],
    ["sub.dir/out", undefined, "txt"],
  ] as const)("-o %s with --format %s is %s", (output, format, expected) => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, "sub.dir"));
    const path = output === "-" ? output : join(directory.path, output);
    expect(planOutputs(["a.mp3"], { output: path, format })).toEqual([{ format: expected, path }]);
  });

  test("are named after the recordings in a directory, and can't lead out of it", () => {
    using directory = temporaryDirectory();
    const names = [
      "/x/meeting.one.m4a",
      ".hidden",
      "https://example.org/a%2F..%2F..%2Fb.mp3?x=1",
      "http://example.org",
    ];
    const paths = planOutputs(names, { output: `${directory.path}/new/`, format: "srt" }).map((output) => output?.path);
    expect(paths).toEqual(
      ["meeting.one", ".hidden", "b", "example.org"].map((stem) => join(directory.path, "new", `${stem}.srt`)),
    );
  });

  test.each([
    [["a.mp3", "b.mp3"], "one.txt", "-o DIRECTORY/"],
    [["a.mp3", "b.mp3"], "-", "-o DIRECTORY/"],
    [["x/a.mp3", "y/a.wav"], "all/", "two transcripts"],
    [
      ["a.mp3"],
      "a.mp4",
      "txt, srt, vtt, pdf, docx, json, rttm, csv, textgrid, eaf, tsv, lrc, md, ttml, exb, whisper, podcast",
    ],
    [["a.mp3"], "no/such/place.txt", "there is no directory"],
    [["a.mp3"], "there.txt", "--force"],
    [["there.mp3"], ".", "--force"],
  ])("of %p to %s are refused before anything is sent", (names, place, says) => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, "there.txt"), "old");
    const output = place === "-" ? place : `${directory.path}/${place}`;
    expect(() => planOutputs(names, { output })).toThrow(says);
    expect(readdirSync(directory.path)).toEqual(["there.txt"]);
  });

  test("can't include JSON and a transcript on standard output, but can be JSON and a file", () => {
    using directory = temporaryDirectory();
    const json = { json: true };
    for (const options of [{ output: "-" }, { format: "srt" as const }, { output: "-", format: "vtt" as const }]) {
      expect(() => planOutputs(["a.wav"], { ...options, ...json })).toThrow("can't both be printed");
      expect(planOutputs(["a.wav"], options)).toHaveLength(1);
    }
    expect(planOutputs(["a.wav"], json)).toEqual([null]);
    const path = join(directory.path, "a.srt");
    expect(planOutputs(["a.wav"], { output: path, ...json })).toEqual([{ format: "srt", path }]);
  });
});

describe("a written transcript", () => {
  test("is complete, without other files", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "new.txt");
    await writeOutput(path, bytes, false);
    expect([readFileSync(path, "utf8"), readdirSync(directory.path)]).toEqual(["new", ["new.txt"]]);
  });

  test("overwrites no existing file and no broken link without --force", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "old.txt");
    writeFileSync(path, "old");
    await expect(writeOutput(path, bytes, false)).rejects.toThrow("--force");
    expect(readFileSync(path, "utf8")).toBe("old");
    await writeOutput(path, bytes, true);
    expect(readFileSync(path, "utf8")).toBe("new");

    const link = join(directory.path, "link.txt");
    symlinkSync(join(directory.path, "nothing"), link);
    await expect(writeOutput(link, bytes, false)).rejects.toThrow("--force");
    expect(readdirSync(directory.path).sort()).toEqual(["link.txt", "old.txt"]);
  });

  test("never replaces a device", async () => {
    await writeOutput("/dev/null", bytes, true);
    expect(await Bun.file("/dev/null").text()).toBe("");
  });

  test("reports the path that could not be written", async () => {
    await expect(writeOutput("/proc/no/where.txt", bytes, false)).rejects.toThrow("can't write /proc/no/where.txt");
  });
});
