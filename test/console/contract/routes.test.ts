import { expect, test } from "bun:test";
import { routes } from "../../../src/console/contract/index.ts";
import { accessOf } from "../../../src/console/server/data-routes.ts";

const declared = Object.values(routes);

test("each method and path is declared once, and no path matches another's pattern", () => {
  const shapes = declared.map(({ at }) => at.replaceAll(/:\w+/g, ":"));
  expect(new Set(shapes).size).toBe(declared.length);
  for (const { at, access } of declared) {
    const [method = "", path = ""] = at.replaceAll(/:\w+/g, "1").split(" ");
    expect([at, accessOf(method, path)]).toEqual([at, access]);
    if (method === "GET") expect(accessOf("HEAD", path)).toBe(access);
  }
});

test.each([
  ["GET", "/nothing"],
  ["PUT", "/sign-in-methods"],
  ["GET", "/recordings/"],
  ["GET", "/recordings/1/2"],
  ["GET", "/recordings/1/exports/txt/2"],
])("an undeclared %s %s is for operators, who learn that it does not exist", (method, path) => {
  expect(accessOf(method, path)).toBe("operator");
});
