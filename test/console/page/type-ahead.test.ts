import { expect, test } from "bun:test";
import { TypeAhead } from "../../../src/console/page/recording/editing/type-ahead.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false };
const type = (ahead: TypeAhead, ...keys: readonly string[]) =>
  keys.map((key) => ahead.press({ ...plain, key }, key === " " ? "Space" : key));

test("characters that are typed before a place is there belong to that place", () => {
  const ahead = new TypeAhead();
  expect(type(ahead, "a")).toEqual([false]);
  const wait = ahead.begin();
  expect(type(ahead, "w", "h", "o", "Backspace", " ", "Tab", "ArrowLeft")).toEqual(Array(7).fill(true));
  expect(ahead.isCurrent(wait)).toBe(true);
  expect(ahead.take()).toBe("wh ");
  expect([ahead.isCurrent(wait), ahead.take()]).toEqual([false, ""]);
});

test("a later place gets nothing that was typed for an earlier one", () => {
  const ahead = new TypeAhead();
  const wait = ahead.begin();
  type(ahead, "x");
  ahead.begin();
  expect([ahead.isCurrent(wait), ahead.take()]).toEqual([false, ""]);
});

test.each(["Escape", "Control+Space", "Alt+h"])("%s keeps its meaning while a place is awaited", (name) => {
  const ahead = new TypeAhead();
  ahead.begin();
  expect(ahead.press({ ...plain, key: "h", altKey: true }, name)).toBe(false);
  expect(ahead.typed).toBe("");
});
