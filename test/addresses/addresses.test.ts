import { describe, expect, test } from "bun:test";
import { addressGroup, includes, isLoopback, parseNetworks, plainAddress } from "../../src/addresses/index.ts";

describe("a list of networks", () => {
  test.each([
    ["proxy.example.org", "is not an address or network"],
    ["10.0.0.0/33", "from 1 to 32"],
    ["10.0.0.0/0", "trusting every address is not allowed"],
    ["::/0", "trusting every address is not allowed"],
    ["10.0.0.0/8/8", "is not an address or network"],
    ["10.0.0.0/", "from 1 to 32"],
    ["fe80::1%eth0", "is not an address or network"],
    ["", "is not an address or network"],
  ])("with %p is refused: %s", (entry, message) => {
    expect(() => parseNetworks(["10.0.0.1", entry])).toThrow(message);
  });

  test.each([
    ["10.1.2.3", true],
    ["10.2.0.0", false],
    ["192.0.2.7", true],
    ["192.0.2.8", false],
    ["fd12:3456::9", true],
    ["fd12:3457::9", false],
    ["", false],
    ["localhost", false],
  ])("with an address and two networks is asked for %p: %p", (address, expected) => {
    const networks = parseNetworks(["192.0.2.7", " 10.1.0.0/16 ", "fd12:3456::/32"]);
    expect(includes(networks, address)).toBe(expected);
  });

  test("without an entry includes no address", () => {
    expect(includes(parseNetworks([]), "127.0.0.1")).toBe(false);
  });
});

const groups: [string, string][] = [
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::9", "2001:db8:1:3::/64"],
  ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["", ""],
];

test.each(groups)("the group of %p is %p", (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

test.each([
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:127.0.0.1", "127.0.0.1"],
  ["fe80::7%eth0", "fe80::7"],
  ["::1", "::1"],
  ["localhost", null],
])("%p as a plain address is %p", (text, expected) => {
  expect(plainAddress(text)).toBe(expected);
});

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["::1", true],
  ["128.0.0.1", false],
  ["127.0.0.1.example.org", false],
  ["::", false],
])("%p is a loopback address: %p", (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});
