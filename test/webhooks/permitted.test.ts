import { describe, expect, test } from "bun:test";
import { parseAllowList } from "../../src/addresses/index.ts";
import { parseWebhookUrl, requirePermitted } from "../../src/webhooks/index.ts";

const refusal = (url: string, allow: readonly string[]) => {
  try {
    requirePermitted(parseWebhookUrl(url), parseAllowList(allow));
    return null;
  } catch (error) {
    return String(error);
  }
};

describe("a webhook by http", () => {
  test.each([
    ["a name, without a list", "http://app.example.org/", []],
    ["another name than the list has", "http://app.example.org.evil.test/", ["app.example.org", "*.example.org"]],
    ["an address beside the list", "http://10.2.0.1/", ["10.1.0.0/16", "app.example.org"]],
    ["a public address", "http://93.184.215.14/", ["app.example.org"]],
  ])("is refused for %s, because no event could be sent", (_, url, allow) => {
    expect(refusal(url, allow)).toMatch(/use https|webhooks\.allow/);
  });

  test.each([
    ["a listed name", "http://app.example.org./", ["app.example.org"]],
    ["a name below a listed one", "http://a.b.example.org/", ["*.example.org"]],
    ["an address in a listed network", "http://10.1.2.3/", ["10.1.0.0/16"]],
    ["a name, which may be in a listed network", "http://hooks.corp/", ["fd12::/32"]],
  ])("is accepted for %s", (_, url, allow) => {
    expect(refusal(url, allow)).toBeNull();
  });
});
