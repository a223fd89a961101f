import { describe, expect, test } from "bun:test";
import {
  claimedUserOf,
  hasTooManyGroups,
  isComplete,
  mergeClaims,
  sessionEndOf,
} from "../../../src/console/server/entry/claims.ts";

const base = { iss: "https://login.example.org", sub: "1", email: "Anna@Example.org", email_verified: true };
const google = { ...base, iss: "https://accounts.google.com" };

describe("the claims of a provider", () => {
  test.each([
    ["a list", { groups: ["a", "b"] }, "groups", ["a", "b"]],
    ["a single text", { groups: "a" }, "groups", ["a"]],
    ["a nested claim", { realm_access: { roles: ["a"] } }, "realm_access.roles", ["a"]],
    ["a claim whose name is an address", { "https://example.org/groups": ["a"] }, "https://example.org/groups", ["a"]],
    ["values that are no texts", { groups: ["a", 1, null, { a: 1 }] }, "groups", ["a"]],
    ["no claim", {}, "groups", []],
    ["another type", { groups: 5 }, "groups", []],
    ["a path through a text", { realm_access: "x" }, "realm_access.length", []],
    ["a property of every object", {}, "constructor.name", []],
  ])("give the groups of %s", (_what, claims, path, groups) => {
    expect(claimedUserOf({ ...base, ...claims }, path)?.groups).toEqual(groups);
  });

  test.each([
    ["a verified address", base, "example.org"],
    ["one that is verified in words", { ...base, email_verified: "true" }, "example.org"],
    ["one that is not verified", { ...base, email_verified: false }, null],
    ["one of which the provider says nothing", { ...base, email_verified: undefined }, null],
    ["one that is verified by a number", { ...base, email_verified: 1 }, null],
    ["no address", { ...base, email: undefined }, null],
    ["two at signs", { ...base, email: "a@evil.example@example.org" }, null],
    ["a domain alone", { ...base, email: "example.org" }, null],
    ["the Kelvin sign, which is no k", { ...base, email: "a@\u212Aate.example" }, "\u212Aate.example"],
    ["Google's hosted domain", { ...google, hd: "Example.org", email: "anna@mail.example" }, "example.org"],
    ["a Google account without one", google, null],
    ["a Gmail address", { ...google, email: "anna@gmail.com" }, null],
  ])("give the domain of %s", (_what, claims, domain) => {
    expect(claimedUserOf(claims, "groups")?.domain).toBe(domain);
  });

  test.each([
    ["one that the provider has verified", base, true],
    ["one that is not verified", { ...base, email_verified: false }, false],
    ["a domain alone", { ...base, email: "example.org" }, false],
    ["two at signs", { ...base, email: "a@evil.example@example.org" }, false],
    ["one of Google's own", { ...google, email: "anna@Gmail.com" }, true],
    ["one of an organization at Google", { ...google, hd: "example.org" }, true],
    ["another one of a Google account", google, false],
  ])("vouch for an address: %s", (_what, claims, isEmailVerified) => {
    expect(claimedUserOf(claims, "groups")?.isEmailVerified).toBe(isEmailVerified);
  });

  test("of two sources take the address and its verification from the same one", () => {
    const [boss, mallory] = ["boss@example.org", "mallory@evil.example"];
    const email = (idToken: object, userinfo: object) => {
      const claimed = claimedUserOf(mergeClaims({ iss: base.iss, sub: "1", ...idToken }, { ...userinfo }), "groups");
      return [claimed?.email, claimed?.isEmailVerified];
    };
    const verified = { email: mallory, email_verified: true, hd: "example.org", groups: [] };
    expect(email({ email: boss }, verified)).toEqual([boss, false]);
    expect(email({ email_verified: true }, { email: boss })).toEqual([boss, false]);
    expect(email({}, verified)).toEqual([mallory, true]);
    expect(email({ email: boss, email_verified: true }, { ...verified, email_verified: false })).toEqual([boss, true]);
    const googles = mergeClaims({ ...google, email: boss }, { hd: "evil.example", groups: ["a"] });
    expect(claimedUserOf(googles, "groups")).toMatchObject({ domain: null, groups: ["a"] });
  });

  test("name a person as well as they can", () => {
    const nameOf = (claims: object) => claimedUserOf({ ...base, ...claims }, "groups")?.name;
    expect(nameOf({ name: " Anna Ames ", preferred_username: "anna" })).toBe("Anna Ames");
    expect(nameOf({ name: "", preferred_username: "anna" })).toBe("anna");
    expect(nameOf({})).toBe("Anna@Example.org");
    expect(nameOf({ email: undefined })).toBe("1");
  });

  const subjects = [undefined, null, 1, ["1"], "", "x".repeat(256), "😀".repeat(256), "a\0b", "a\nb", "\ud800"];
  test.each(subjects.map((sub) => [sub]))("identify nobody by the subject %p", (sub) => {
    expect(claimedUserOf({ ...base, sub }, "groups")).toBeNull();
  });

  test.each(["1", "x".repeat(255), "auth0|Ünï 1", "😀"])("identify somebody by the subject %p", (sub) => {
    expect(claimedUserOf({ ...base, sub }, "groups")?.subject).toBe(sub);
  });

  test.each([
    [1_800_000_000, 1_800_000_000_000],
    [1_800_000_000.1234567, 1_800_000_000_123],
    [-5, 0],
    [-1e308, 0],
    [1e308, Number.MAX_SAFE_INTEGER],
    ["1800000000", null],
    [null, null],
    [undefined, null],
    [{ seconds: 1 }, null],
  ])("state an end of the session: %p", (session_expiry, end) => {
    expect(sessionEndOf({ ...base, session_expiry })).toBe(end);
  });

  const wrong = [1, true, null, ["a"], { a: 1 }, "", " ", "\u200b"];
  test.each(wrong.map((value) => [value]))("of a wrong type are left out: %p", (value) => {
    const claims = { ...base, name: value, preferred_username: value, email: value, hd: value, email_verified: value };
    const claimed = claimedUserOf({ ...claims, _claim_names: value }, "groups");
    expect(claimed).toMatchObject({ email: null, isEmailVerified: false, domain: null, groups: [] });
  });

  test("are complete with an address and groups, also without any group", () => {
    expect(isComplete({ ...base, groups: [] }, "groups")).toBe(true);
    expect(isComplete(base, "groups")).toBe(false);
    expect(isComplete({ groups: [] }, "groups")).toBe(false);
  });

  test("tell when groups are too many for a token", () => {
    expect(hasTooManyGroups({ ...base, _claim_names: { groups: "src1" } }, "groups")).toBe(true);
    expect(hasTooManyGroups({ ...base, _claim_names: { other: "src1" } }, "groups")).toBe(false);
    expect(hasTooManyGroups({ ...base, _claim_names: null }, "groups")).toBe(false);
  });
});
