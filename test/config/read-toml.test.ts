import { describe, expect, test } from "bun:test";
import { readToml, TomlError } from "../../src/config/read-toml.ts";

/** Returns entries as `line:column path = value`, and heads of tables as `line:column [path]`. */
function read(text: string): string[] {
  return readToml(text).map(({ path, value, source, place }) => {
    const at = `${place.line}:${place.column}`;
    return source === null ? `${at} [${path.join("/")}]` : `${at} ${path.join("/")} = ${JSON.stringify(value)}`;
  });
}

/** Returns the fault of a text as `line:column message`. */
function faultOf(text: string): string {
  try {
    readToml(text);
  } catch (error) {
    if (error instanceof TomlError) return `${error.place.line}:${error.place.column} ${error.message}`;
    throw error;
  }
  throw new Error("the text has no fault");
}

describe("a key of a TOML file is read with its place", () => {
  const cases: [string, string, string[]][] = [
    ["below the head of a table", "[a]\nb = 1\n", ["1:2 [a]", "2:1 a/b = 1"]],
    ["as a dotted key", "a.b = 1\n  c.d.e = 2", ["1:1 a/b = 1", "2:3 c/d/e = 2"]],
    ["in quotes, where a dot does not separate", "\"a.b\" = 1\n'c d'.e = 2", ["1:1 a.b = 1", "2:1 c d/e = 2"]],
    ["in an inline table", "a = { b = 1, c = { d = 2 } }", ["1:1 [a]", "1:7 a/b = 1", "1:14 [a/c]", "1:20 a/c/d = 2"]],
    ["after a list of several lines", "a = [\n 'x', # one\n 'y',\n]\nb = 2", ['1:1 a = ["x","y"]', "5:1 b = 2"]],
    ["after a text of several lines", 'a = """\nx\ny"""\nb = 2', ['1:1 a = "x\\ny"', "4:1 b = 2"]],
    ["in lines that end with CR and LF", "[a]\r\nb = 1\r\nc = 'd'\r\n", ["1:2 [a]", "2:1 a/b = 1", '3:1 a/c = "d"']],
    [
      "next to characters of two UTF-16 units",
      "[a]\n'\u{1F600}' = 1\n'ü'.b = 2",
      ["1:2 [a]", "2:1 a/\u{1F600} = 1", "3:1 a/ü/b = 2"],
    ],
    [
      "with the name of a prototype's property",
      "a.__proto__ = 1\nconstructor = 2",
      ["1:1 a/__proto__ = 1", "2:1 constructor = 2"],
    ],
    ["in a list of tables", "[[a]]\nb = 1", ["1:3 [a]", "2:1 a/b = 1"]],
    ["except in a file without keys", "\n# nothing\n", []],
  ];
  test.each(cases)("%s", (_name, text, entries) => {
    expect(read(text)).toEqual(entries);
  });
});

describe("the first fault of a TOML file is reported with its place:", () => {
  const again = "this is set a second time";
  test.each([
    ["a key that is set twice", "a = 1\na = 2\nb = 3", `2:1 ${again}`],
    ["a table that is defined twice", "[a]\nb = 1\n[c]\n[a]\nd = 2", `4:2 ${again}`],
    ["a key that is already a table", "a.b = 1\na = 2", `2:1 ${again}`],
    ["a dotted key below a value", "[a]\nb = 1\n[a.b]\nc = 2", `3:4 ${again}`],
    ["the first of two keys on one line", "a = 1\nb = { c = 1, c = 2, c = 3 }", `2:14 ${again}`],
    ["a line that is not TOML", "a = 1\nb = = 2\nc = 3", "2:5 this is not valid TOML: unexpected token"],
    ["a text without its end", "a = 'x\nb = 1", "1:7 this is not valid TOML: unterminated string constant"],
    [
      "the first of two invalid lines",
      "a\nb = 1\nc = $",
      "1:2 this is not valid TOML: the key, equals sign, and value must be on the same line",
    ],
    [
      "an unfinished head of a table",
      "[a]\nb = 1\n[c\nd = 2",
      "3:3 this is not valid TOML: the key, equals sign, and value must be on the same line",
    ],
    ["very deep nesting", `a = ${"[".repeat(60_000)}${"]".repeat(60_000)}`, "1:1 this is nested too deeply"],
    ["a list without its end", `a = ${"[".repeat(60_000)}`, "this is not valid TOML"],
    ["a table without its end in a list", "a = [{\n# b\n", "3:1 this is not valid TOML"],
    ["a control character", "a = 1\n\u0000\u0007 = 2", "2:1 this is not valid TOML"],
    ["one of ten thousand repeated keys", "a = 1\n".repeat(10_000), `2:1 ${again}`],
  ])("%s", (_name, text, fault) => {
    expect(faultOf(text)).toContain(fault);
  });
});
