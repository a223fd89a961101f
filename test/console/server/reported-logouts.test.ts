import { expect, test } from "bun:test";
import { ReportedLogouts } from "../../../src/console/server/entry/reported-logouts.ts";

const issuer = "https://login.example.org";
const opening = { issuer, subject: "anna", providerSession: "one", beganAt: 1000 };
const notice = { issuer, subject: "anna", providerSession: null };

test.each([
  ["the person", notice, opening, true],
  ["the person, of a sign-in that began later", notice, { ...opening, beganAt: 3000 }, false],
  ["another person", { ...notice, subject: "omar" }, opening, false],
  ["a person of another provider", { ...notice, issuer: "https://other.example" }, opening, false],
  ["the session", { ...notice, providerSession: "one" }, opening, true],
  ["the session alone", { issuer, subject: null, providerSession: "one" }, opening, true],
  [
    "the session of a sign-in that began later",
    { ...notice, providerSession: "one" },
    { ...opening, beganAt: 3000 },
    true,
  ],
  ["another session of the person", { ...notice, providerSession: "two" }, opening, false],
  [
    "a session of the person, who may have that one",
    { ...notice, providerSession: "two" },
    { ...opening, providerSession: null },
    true,
  ],
  [
    "a session of an unknown person",
    { issuer, subject: null, providerSession: "two" },
    { ...opening, providerSession: null },
    false,
  ],
])("a logout of %s covers a sign-in or not", (_what, reported, sought, covers) => {
  const logouts = new ReportedLogouts();
  logouts.add(reported, 2000);
  expect(logouts.cover(sought)).toBe(covers);
});

test("a logout is forgotten after 15 minutes", () => {
  const logouts = new ReportedLogouts();
  logouts.add({ ...notice, providerSession: "one" }, 0);
  logouts.add({ ...notice, subject: "omar" }, 14 * 60_000);
  expect(logouts.cover(opening)).toBe(true);
  logouts.add({ ...notice, subject: "omar" }, 15 * 60_000);
  expect(logouts.cover(opening)).toBe(false);
});
