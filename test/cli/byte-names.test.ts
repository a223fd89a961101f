import { describe, expect, test } from "bun:test";
import { Argument, Command } from "commander";
import {
  basename,
  decodedArguments,
  decodeName,
  dirname,
  extname,
  join,
  requireText,
  systemPath,
  withAnyName,
} from "../../src/cli/byte-names.ts";
import { UsageError } from "../../src/cli/command-error.ts";

const bytesOf = (path: string | Buffer) => [...Buffer.from(path)];

describe("a decoded name", () => {
  test.each([
    ["plain text", Buffer.from("meeting.mp3"), "meeting.mp3"],
    ["letters of all lengths", Buffer.from("ü会👩‍👧\u{fffd}"), "ü会👩‍👧\u{fffd}"],
    ["Latin-1", Buffer.from("Gespräch.wav", "latin1"), "Gespr\udce4ch.wav"],
    ["a sequence that is cut off", Buffer.of(0xf0, 0x9f, 0x91, 0x61), "\udcf0\udc9f\udc91a"],
    ["an overlong sequence", Buffer.of(0xc0, 0xaf), "\udcc0\udcaf"],
    ["an encoded surrogate", Buffer.of(0xed, 0xb3, 0xbf), "\udced\udcb3\udcbf"],
    ["a byte after a letter of two surrogates", Buffer.of(0xf0, 0x9f, 0x91, 0xa9, 0xff), "👩\udcff"],
  ])("of %s gives its bytes back", (_, bytes, decoded) => {
    expect(decodeName(bytes)).toBe(decoded);
    expect(bytesOf(systemPath(decoded))).toEqual([...bytes]);
    expect(typeof systemPath(decoded) === "string").toBe(decoded.isWellFormed());
  });

  test("of any bytes gives them back", () => {
    let seed = 1;
    const next = () => (seed = (seed * 48_271) % 2_147_483_647);
    for (let round = 0; round < 2000; round++) {
      const bytes = Buffer.from(
        Array.from({ length: next() % 12 }, () => (next() % 3 === 0 ? next() % 128 : 128 + (next() % 128))),
      );
      expect(bytesOf(systemPath(decodeName(bytes)))).toEqual([...bytes]);
    }
  });

  test("is split and joined without a change of its bytes", () => {
    expect(join("a\udce4/", "./b\udcff.mp3")).toBe("a\udce4/b\udcff.mp3");
    expect([dirname, basename, extname].map((part) => part("a\udce4/b.\udcff"))).toEqual([
      "a\udce4",
      "b.\udcff",
      ".\udcff",
    ]);
    expect(basename("ü\udce4.mp3", ".mp3")).toBe("ü\udce4");
  });

  test("keeps a hundred thousand bytes without delay", () => {
    const bytes = Buffer.alloc(100_000, Buffer.of(0xe4, 0x61));
    expect(bytesOf(systemPath(decodeName(bytes)))).toEqual([...bytes]);
  });
});

describe("arguments", () => {
  const commandLine =
    (...words: readonly Buffer[]) =>
    () =>
      Buffer.concat(words.flatMap((word) => [word, Buffer.of(0)]));
  const latin = Buffer.from("ä.mp3", "latin1");
  const program = [Buffer.from("/usr/bin/bun"), Buffer.from("main.ts")];

  test("get the bytes that the runtime replaced", () => {
    const read = commandLine(...program, Buffer.from("submit"), latin, Buffer.from(""));
    expect(decodedArguments(["submit", "\u{fffd}.mp3", ""], read)).toEqual(["submit", "\udce4.mp3", ""]);
  });

  test("stay as they are if all are UTF-8, or the command line can't be read", () => {
    expect(
      decodedArguments(["submit", "ä.mp3"], () => {
        throw new Error("not read");
      }),
    ).toEqual(["submit", "ä.mp3"]);
    const named = commandLine(...program, Buffer.from("\u{fffd}.mp3"));
    expect(decodedArguments(["\u{fffd}.mp3"], named)).toEqual(["\u{fffd}.mp3"]);
    expect(decodedArguments(["submit", "\u{fffd}.mp3"], () => new Uint8Array())).toEqual(["submit", "\u{fffd}.mp3"]);
  });
});

test("bytes that are not UTF-8 are a wrong command line, except in names of recordings and outputs", async () => {
  const run = async (...args: readonly string[]) => {
    const command = new Command("submit")
      .addArgument(withAnyName(new Argument("<recording...>")))
      .option("--prompt <text>")
      .hook("preAction", (_, self) => requireText(self))
      .action(() => {});
    await command.parseAsync([...args], { from: "user" });
  };
  await run("a\udcff.mp3", "b.mp3", "--prompt", "Ada");
  await expect(run("b.mp3", "--prompt", "\udce4")).rejects.toThrow(UsageError);
  await expect(run("b.mp3", "--prompt", "\udce4")).rejects.toThrow("--prompt");
});
