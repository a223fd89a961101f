import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { available, mediaToolPath } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { ExportDocument } from "../../src/exports/index.ts";
import { exportedText, hostileTexts, samples, transcript } from "../support/transcripts.ts";

setDefaultTimeout(60_000);

const two = transcript(["Good morning, everybody.", "Hello <i>there</i> & welcome --> in."]);

test("srt: cues are numbered, times have a comma, and markup is neutralized", async () => {
  const joiner = "\u2060";
  expect(await exportedText("srt", two)).toBe(`1
00:00:00,000 --> 00:00:04,000
Good morning, everybody.

2
00:00:04,000 --> 00:00:08,000
Hello <${joiner}i>there<${joiner}/i> & welcome --${joiner}> in.

`);
});

test("srt: braces and times in a text are no styling and no cue", async () => {
  const text = await exportedText("srt", transcript(["{y:i}Yes {s: 3} {\\an8}", "1:00:00,5 to 02:00:00.500"]));
  expect(text).toContain("\n{\u2060y:i}Yes {\u2060s: 3} {\u2060\\\u2060an8}\n");
  expect(text).toContain("\n1:00:\u206000,5 to 02:00:\u206000.500\n");
});

test("vtt: speakers are voices and markup is escaped", async () => {
  expect(await exportedText("vtt", two)).toBe(`WEBVTT

00:00:00.000 --> 00:00:04.000
<v A>Good morning, everybody.

00:00:04.000 --> 00:00:08.000
<v B>Hello &lt;i&gt;there&lt;/i&gt; &amp; welcome --&gt; in.

`);
});

test("vtt: a speaker's name cannot close its tag", async () => {
  const text = await exportedText("vtt", transcript(["Hello."], { speakers: ["A> & <b>\nB"] }));
  expect(text).toContain("<v A&gt; &amp; &lt;b&gt; B>Hello.");
});

test.each(Object.entries(hostileTexts))("%s: every cue has times, lines and an end", async (_name, text) => {
  const document = transcript([text, "Fine."]);
  for (const cue of (await exportedText("srt", document)).trim().split("\n\n")) {
    expect(cue).toMatch(/^\d+\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\n[^\n]+(\n[^\n]+)?$/);
    expect(cue.split("\n").slice(2).join("\n")).not.toContain("-->");
  }
  for (const cue of (await exportedText("vtt", document)).trim().split("\n\n").slice(1)) {
    expect(cue).toMatch(/^\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}\n<v [AB]>[^\n<>]+(\n[^\n<>]+)?$/);
  }
});

test("a recording without segments gives a valid empty file", async () => {
  expect(await exportedText("srt", transcript([]))).toBe("");
  expect(await exportedText("vtt", transcript([]))).toBe("WEBVTT\n\n");
});

const visible = (text: string) => text.replace(/[\u2060\s]+/g, "");

describe.if(available("subtitles read by ffmpeg", mediaToolPath))("ffmpeg reads the exported text", () => {
  /** Returns the cue texts that ffmpeg reads, without numbers, times and tags. */
  async function read(format: "srt" | "vtt" | "lrc", document: ExportDocument): Promise<string> {
    using directory = temporaryDirectory();
    const path = join(directory.path, `cues.${format}`);
    await Bun.write(path, await exportedText(format, document));
    const child = Bun.spawn([mediaToolPath, "-v", "error", "-nostdin", "-i", path, "-f", "srt", "-"], {
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, errors]).toEqual([0, ""]);
    return output
      .replaceAll("\\{{}", "{") // ffmpeg's own escape
      .split("\n\n")
      .map((cue) => cue.split("\n").slice(2).join(" "))
      .join(" ");
  }

  const spoken = Object.values(samples).flat();
  const markup = [
    "a <b>bold</b> word",
    "x < y & z",
    "&lt;i&gt; is text",
    "1",
    "00:00:01,000 --> 00:00:02,000",
    "NOTE this",
    "{y:i}yes {c:$ff} {s: 3} {b}x{/b}",
    "[Music] plays",
  ];

  test.each(["srt", "vtt", "lrc"] as const)("%s, in every script", async (format) => {
    expect(visible(await read(format, transcript(spoken)))).toBe(visible(spoken.join("")));
  });

  test.each(["srt", "vtt", "lrc"] as const)("%s, with text that resembles markup", async (format) => {
    expect(visible(await read(format, transcript(markup)))).toBe(visible(markup.join("")));
  });

  test.each(["srt", "vtt", "lrc"] as const)("%s, with hostile texts", async (format) => {
    expect(await read(format, transcript(Object.values(hostileTexts)))).not.toBe("");
  });
});
