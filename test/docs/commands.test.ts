import { describe, expect, test } from "bun:test";
import { commandLinesOf, faultOf } from "./command-lines.ts";
import { pages } from "./pages.ts";

const everywhere = pages.flatMap((page) => commandLinesOf(page).map((line) => ({ page: page.name, line })));

test("the documentation shows commands", () => {
  expect(everywhere.filter(({ line }) => !line.isMention).length).toBeGreaterThan(20);
  expect(everywhere.filter(({ line }) => line.isMention).length).toBeGreaterThan(10);
});

test.each(pages.map((page) => [page.name, page] as const))(
  "every command in %s exists, with its options",
  (_, page) => {
    const faults = commandLinesOf(page).map((line) => [line.words.join(" "), faultOf(line)]);
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
  },
);

describe("the check of commands", () => {
  const page = (text: string) => ({ name: "x.md", path: "/x.md", text });
  test.each([
    ["```sh\ntranscribe frobnicate\n```", "no command frobnicate"],
    ["```sh\nsudo -u transcribe transcribe keys create --acount acme\n```", "no option --acount"],
    ["```sh\nkey=$(transcribe keys create --account)\n```", "--account needs a value"],
    ["```sh\ntranscribe restore\n```", "needs more"],
    ["```sh\nsomething | dist/transcribe-linux-x64 backup a.db b.db\n```", "takes less"],
    ["```sh\ntranscribe keys\n```", "needs a command"],
    ["Call `transcribe keys rotat ID`.", "no command rotat"],
    ["```sh\ntranscribe fleet init --directory d --worker a b --brokr c\n```", "no option --brokr"],
    ["```sh\ntranscribe serve \\\n  --prot 80\n```", "no option --prot"],
  ])("%j", (text, fault) => {
    expect(commandLinesOf(page(text)).map(faultOf)).toEqual([expect.stringContaining(fault)]);
  });

  test.each([
    ["```sh\n# transcribe is a program\ncd /opt/transcribe && ls\n```"],
    ["```sh\nsudo systemctl restart transcribe\n```"],
    ["A directory `/var/lib/transcribe`, a user `transcribe`."],
  ])("%j is none", (text) => {
    expect(
      commandLinesOf(page(text))
        .map(faultOf)
        .filter((fault) => fault !== null),
    ).toEqual([]);
  });
});
