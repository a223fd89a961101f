import { describe, expect, test } from "bun:test";
import { type ClaimedUser, grantOf, parseSignInRules } from "../../src/users/index.ts";

const anna: ClaimedUser = {
  issuer: "https://login.example.org",
  subject: "1",
  name: "Anna",
  email: "Anna@Example.org",
  isEmailVerified: true,
  domain: "example.org",
  groups: ["sales", "/staff/Berlin, Mitte", "CN=ops,OU=it"],
};
const grant = (rules: readonly string[], user: Partial<ClaimedUser> = {}) =>
  grantOf(parseSignInRules(rules), { ...anna, ...user });

describe("the rules of a sign-in", () => {
  test.each([
    [["operator: group sales"], { role: "operator", accounts: "all" }],
    [["member acme: group sales"], { role: "member", accounts: ["acme"] }],
    [["reader  acme   beta :  group   sales"], { role: "reader", accounts: ["acme", "beta"] }],
    [["reader *: domain Example.ORG"], { role: "reader", accounts: "all" }],
    [["reader acme *: domain example.org"], { role: "reader", accounts: "all" }],
    [["member acme: email anna@example.org"], { role: "member", accounts: ["acme"] }],
    [["member acme: group /staff/Berlin, Mitte"], { role: "member", accounts: ["acme"] }],
    [["member acme: group CN=ops,OU=it"], { role: "member", accounts: ["acme"] }],
    [["member acme: group sales", "member beta: domain example.org"], { role: "member", accounts: ["acme", "beta"] }],
  ])("%p give what they say", (rules, expected) => {
    expect(grant(rules)).toEqual(expected as ReturnType<typeof grant>);
  });

  test("never make a reader of one account a member of it, because the person is a member of another", () => {
    const rules = ["reader beta: group sales", "member acme: group sales", "reader *: domain example.org"];
    expect(grant(rules)).toEqual({ role: "member", accounts: ["acme"] });
    expect(grant([...rules, "operator: email anna@example.org"])).toEqual({ role: "operator", accounts: "all" });
  });

  test.each([
    ["a group in another case", "member acme: group Sales"],
    ["a part of a group's name", "member acme: group sale"],
    ["a parent domain", "member acme: domain org"],
    ["a subdomain", "member acme: domain mail.example.org"],
    ["another address", "member acme: email anna@example.org.evil.example"],
  ])("give nothing for %s", (_what, rule) => {
    expect(grant([rule])).toBeNull();
  });

  test("give nothing for an address with a letter that only looks the same in lower case", () => {
    expect(grant(["operator: email kate@example.org"], { email: "\u212Aate@example.org" })).toBeNull();
    expect(grant(["operator: email kate@example.org"], { email: "KATE@example.org" })).not.toBeNull();
  });

  test("give nothing for an address that the provider does not vouch for", () => {
    const unverified = { isEmailVerified: false, domain: null };
    for (const rule of ["member acme: domain example.org", "operator: email anna@example.org"]) {
      expect(grant([rule], unverified)).toBeNull();
    }
    expect(grant(["member acme: group sales"], { ...unverified, email: null })).not.toBeNull();
  });

  test.each([
    ["", "is not a rule"],
    ["admin: group sales", "is not a rule"],
    ["member acme", "is not a rule"],
    ["member acme: sales", "is not a rule"],
    ["member acme: group", "is not a rule"],
    ["member acme: everybody sales", "is not a rule"],
    ["member acme, beta: group sales", "is not a rule"],
    ["member: group sales", "names no account"],
    ["reader: domain example.org", "names no account"],
    ["operator acme: group sales", "an operator sees all accounts"],
  ])("%p are refused with the form of a rule", (rule, why) => {
    expect(() => parseSignInRules(["operator: group admins", rule])).toThrow(why);
  });
});
