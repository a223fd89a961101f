import { describe, expect, test } from "bun:test";
import { readToml } from "../../../src/config/toml/read-toml.ts";

/** Entries as `line:column path = value`, heads of tables as `line:column [path]`. */
function read(text: string) {
  const { entries, faults } = readToml(text);
  return {
    entries: entries.map(({ path, value, source, place }) => {
      const at = `${place.line}:${place.column}`;
      return source === null ? `${at} [${path.join("/")}]` : `${at} ${path.join("/")} = ${JSON.stringify(value)}`;
    }),
    faults: faults.map(({ place, message }) => `${place.line}:${place.column} ${message}`),
  };
}

describe("every key of a TOML file has its place", () => {
  const cases: [string, string, string[]][] = [
    ["under the head of a table", "[a]\nb = 1\n", ["1:2 [a]", "2:1 a/b = 1"]],
    ["dotted", "a.b = 1\n  c.d.e = 2", ["1:1 a/b = 1", "2:3 c/d/e = 2"]],
    ["in quotes, with a dot that is no separator", "\"a.b\" = 1\n'c d'.e = 2", ["1:1 a.b = 1", "2:1 c d/e = 2"]],
    ["in an inline table", "a = { b = 1, c = { d = 2 } }", ["1:1 [a]", "1:7 a/b = 1", "1:14 [a/c]", "1:20 a/c/d = 2"]],
    ["after a list over lines", "a = [\n 'x', # one\n 'y',\n]\nb = 2", ['1:1 a = ["x","y"]', "5:1 b = 2"]],
    ["after a text over lines", 'a = """\nx\ny"""\nb = 2', ['1:1 a = "x\\ny"', "4:1 b = 2"]],
    [
      "in lines that end as Windows ends them",
      "[a]\r\nb = 1\r\nc = 'd'\r\n",
      ["1:2 [a]", "2:1 a/b = 1", '3:1 a/c = "d"'],
    ],
    [
      "beside letters of more than one unit",
      "[a]\n'\u{1F600}' = 1\n'ü'.b = 2",
      ["1:2 [a]", "2:1 a/\u{1F600} = 1", "3:1 a/ü/b = 2"],
    ],
    ["by the name of a prototype", "a.__proto__ = 1\nconstructor = 2", ["1:1 a/__proto__ = 1", "2:1 constructor = 2"]],
    ["in a list of tables", "[[a]]\nb = 1", ["1:3 [a]", "2:1 a/b = 1"]],
    ["nowhere, in an empty file", "\n# nothing\n", []],
  ];
  test.each(cases)("%s", (_name, text, entries) => {
    expect(read(text)).toEqual({ entries, faults: [] });
  });
});

describe("what is wrong in a TOML file is found with its place, and the rest is read", () => {
  const again = "this is set a second time";
  const cases: [string, string, string[], string[]][] = [
    ["a key twice", "a = 1\na = 2\nb = 3", ["1:1 a = 1", "2:1 a = 2", "3:1 b = 3"], [`2:1 ${again}`]],
    [
      "a table twice",
      "[a]\nb = 1\n[c]\n[a]\nd = 2",
      ["1:2 [a]", "2:1 a/b = 1", "3:2 [c]", "4:2 [a]", "5:1 a/d = 2"],
      [`4:2 ${again}`],
    ],
    ["a key that is a table already", "a.b = 1\na = 2", ["1:1 a/b = 1", "2:1 a = 2"], [`2:1 ${again}`]],
    [
      "a dotted key into a value",
      "[a]\nb = 1\n[a.b]\nc = 2",
      ["1:2 [a]", "2:1 a/b = 1", "3:2 [a/b]", "4:1 a/b/c = 2"],
      [`3:4 ${again}`],
    ],
    [
      "two on one line",
      "a = 1\nb = { c = 1, c = 2, c = 3 }",
      ["1:1 a = 1", "2:1 [b]", "2:7 b/c = 1", "2:14 b/c = 2", "2:21 b/c = 3"],
      [`2:14 ${again}`, `2:21 ${again}`],
    ],
    [
      "a line that is none",
      "a = 1\nb = = 2\nc = 3",
      ["1:1 a = 1", "3:1 c = 3"],
      ["2:5 this is no TOML: unexpected token"],
    ],
    ["a text without its end", "a = 'x\nb = 1", ["2:1 b = 1"], ["1:7 this is no TOML: unterminated string constant"]],
    [
      "two such lines",
      "a\nb = 1\nc = $",
      ["2:1 b = 1"],
      [
        "1:2 this is no TOML: the key, equals sign, and value must be on the same line",
        "3:5 this is no TOML: unexpected character",
      ],
    ],
    [
      "the head of a table, whose keys are left out",
      "[a]\nb = 1\n[c\nd = 2",
      ["1:2 [a]", "2:1 a/b = 1"],
      ["3:3 this is no TOML: the key, equals sign, and value must be on the same line"],
    ],
  ];
  test.each(cases)("%s", (_name, text, entries, faults) => {
    const found = read(text);
    expect(found.entries).toEqual(entries);
    expect(found.faults.toSorted()).toEqual(faults);
  });

  test.each([
    ["nesting beyond all measure", `a = ${"[".repeat(60_000)}${"]".repeat(60_000)}`, "1:1 this is nested too deeply"],
    ["a list that never ends", `a = ${"[".repeat(60_000)}`, "this is no TOML"],
    ["a table in a list that never ends", "a = [{\n# b\n", "3:1 this is no TOML"],
    ["a control character", "a = 1\n\u0000\u0007 = 2", "2:1 this is no TOML"],
  ])("%s", (_name, text, fault) => {
    expect(read(text).faults).toEqual([expect.stringContaining(fault)]);
  });

  test("a file full of faults gives a few, in a moment", () => {
    expect(readToml("a = 1\n".repeat(10_000)).faults).toHaveLength(20);
    expect(readToml("x\n".repeat(10_000)).faults).toHaveLength(20);
  });
});
