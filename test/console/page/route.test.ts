import { expect, test } from "bun:test";
import { addressOf, everything, queryOf, type Route, routeOf } from "../../../src/console/page/route.ts";

test.each<[string, Route]>([
  ["", { screen: "overview" }],
  ["#/", { screen: "overview" }],
  ["#enter=abc", { screen: "overview" }],
  ["#/nowhere/at/all", { screen: "overview" }],
  ["#/accounts", { screen: "accounts" }],
  ["#/live", { screen: "live" }],
  ["#/accounts/a%2Fb/voices", { screen: "voices", account: "a/b" }],
  ["#/accounts/a%2Fb/webhooks", { screen: "webhooks", account: "a/b" }],
  ["#/accounts/a%2Fb/replacements", { screen: "replacements", account: "a/b" }],
  ["#/accounts/x", { screen: "accounts" }],
  ["#/accounts//voices", { screen: "accounts" }],
  ["#/recordings", { screen: "recordings", filter: everything }],
  [
    "#/recordings?status=failed&q=two%20words",
    {
      screen: "recordings",
      filter: { ...everything, status: "failed", words: "two words" },
    },
  ],
  ["#/recordings/a%2Fb?at=12.5", { screen: "recording", id: "a/b", at: 12.5, find: "" }],
  ["#/recordings/x?at=-1&find=boats", { screen: "recording", id: "x", at: null, find: "boats" }],
  ["#/recordings/%E0%A4%A?at=soon", { screen: "recordings", filter: everything }],
])("routeOf parses the fragment %s", (hash, route) => {
  expect(routeOf(hash)).toEqual(route);
});

test("routeOf restores every route from its address", () => {
  const routes: Route[] = [
    { screen: "overview" },
    { screen: "accounts" },
    { screen: "live" },
    { screen: "voices", account: "0199-x" },
    { screen: "webhooks", account: "0199-x" },
    { screen: "replacements", account: "0199-x" },
    { screen: "recordings", filter: { status: "queued", account: "a", workspace: "w", words: "a & b = c?" } },
    { screen: "recording", id: "0199-x", at: 0, find: "#+%" },
  ];
  expect(routes.map((route) => routeOf(addressOf(route)))).toEqual(routes);
});

test("queryOf omits empty values", () => {
  expect(queryOf({ q: "", status: "" })).toBe("");
  expect(queryOf({ q: "é&", status: "" })).toBe("?q=%C3%A9%26");
});
