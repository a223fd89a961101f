import { describe, expect, test } from "bun:test";
import { specialAddressKind } from "../../../src/addresses/address-kind.ts";
import { addressGuard, ownAddresses, parseAllowList } from "../../../src/addresses/index.ts";
import { checkRecordingUrl } from "../../../src/media/index.ts";
import { fetching } from "./support.ts";

const NOTHING = parseAllowList([]);

// Spellings that URL parsers, C libraries and browsers accept as an address, and names of this machine.
const SPELLINGS = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "127.0.1",
  "0x7f.1",
  "0x7f000001",
  "0X7F.0.0.1",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "00000177.1",
  "127.0x0.0.1",
  "%31%32%37.0.0.1",
  "127%2e0%2e0%2e1",
  "１２７.0.0.1",
  "127。0。0。1",
  "127．0．0．1",
  "①②⑦.⓪.⓪.①",
  "127.255.255.254",
  "0",
  "0x0",
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "012.0.0.1",
  "0xa.1",
  "167772161",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "0300.0250.0.1",
  "3232235777",
  "100.64.0.1",
  "100.100.100.200",
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "169.254.43518",
  "168.63.129.16",
  "192.0.0.192",
  "192.0.2.1",
  "198.51.100.7",
  "203.0.113.9",
  "198.18.0.1",
  "198.19.255.255",
  "192.88.99.1",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "4294967295",
  "[::]",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[0000::0001]",
  "[::127.0.0.1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:FFFF:10.0.0.1]",
  "[::ffff:169.254.169.254]",
  "[::ffff:8.8.8.8]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::7f00:1]",
  "[100::1]",
  "[2001::1]",
  "[2001:0:53aa:64c:0:5efe:80ff:fffe]",
  "[2001:2::1]",
  "[2001:10::1]",
  "[2001:20::1]",
  "[2001:db8::1]",
  "[2002:7f00:1::]",
  "[2002:a9fe:a9fe::1]",
  "[3fff::1]",
  "[3ffe::1]",
  "[5f00::1]",
  "[4000::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[febf::1]",
  "[fec0::1]",
  "[ff02::1]",
  "localhost",
  "LOCALHOST.",
  "ｌｏｃａｌｈｏｓｔ",
  "a.localhost",
];

describe("a non-public address in any spelling as a host", () => {
  test.each(SPELLINGS)("is refused when a recording is created and when it is fetched: %s", async (host) => {
    expect(checkRecordingUrl(`http://${host}:9/a.mp3`, NOTHING)).toMatchObject({ ok: false, kind: "invalid" });
    const outcome = await fetching(`http://${host}:9/a.mp3`, {
      allow: [],
      resolve: () => Promise.reject(new Error("such a host is not looked up")),
    });
    expect(outcome).toMatchObject({ fault: "fetch_blocked_address", files: [] });
  });

  test.each([
    "256.0.0.1",
    "1.2.3.4.5",
    "4294967296",
    "09.0.0.1",
    "[fe80::1%25lo]",
    "[::1]]",
    "[v1.a]",
    "127.0.0.1%2f",
    "127.0.0.1%00",
    "a b",
    "",
  ])("is no valid link if parsers disagree about it: %p", (host) => {
    expect(checkRecordingUrl(`http://${host}/a.mp3`, NOTHING)).toMatchObject({ ok: false, kind: "invalid" });
  });
});

describe("an address that a name resolves to", () => {
  test.each([
    ...["127.0.0.1", "0.0.0.0", "10.9.8.7", "172.20.0.1", "192.168.0.9", "100.127.255.255", "169.254.169.254"],
    ...["198.18.5.5", "224.0.0.251", "255.255.255.255", "::1", "::", "::ffff:127.0.0.1", "::ffff:808:808"],
    ...["fe80::1", "fe80::1%lo", "fe80::1%1", "fd12::1", "fec0::1", "ff02::fb", "2002:7f00:1::1", "64:ff9b::7f00:1"],
    // An address in any other than its plain notation is refused.
    ...["127.1", "0x7f000001", "", "[::1]", "localhost", "8.8.8.8 "],
  ])("is refused if it is not public: %p", async (address) => {
    const outcome = await fetching("http://recordings.test:9/a.mp3", { allow: [], resolve: async () => [address] });
    expect(outcome).toMatchObject({ fault: "fetch_blocked_address", files: [] });
  });

  test.each([
    ["first", ["127.0.0.1", "93.184.215.14"]],
    ["last", ["93.184.215.14", "10.0.0.1"]],
    ["in the other family", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "fe80::1"]],
  ])("is refused with all others if one is not public: %s", async (_, addresses) => {
    const outcome = await fetching("http://recordings.test:9/a.mp3", { allow: [], resolve: async () => addresses });
    expect(outcome).toMatchObject({ fault: "fetch_blocked_address", files: [] });
  });

  test.each([
    ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"],
    ...["128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255"],
    ...["192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:200::1"],
    ...["2001:4860:4860::8888", "2a00:1450::1", "2003::1", "3ffd::1"],
  ])("is permitted if it is public: %s", (address) => {
    expect(specialAddressKind(address)).toBeNull();
    expect(addressGuard(NOTHING, new Set())("recordings.test", address)).toBeNull();
  });

  test("is classified by its kind", () => {
    const kinds = ["fe80::1%lo", "::1", "::", "::ffff:8.8.8.8", "2002::1", "168.63.129.16", "4000::1", "100.64.0.1"];
    expect(kinds.map(specialAddressKind)).toEqual([
      ...(["link-local", "loopback", "unspecified", "translated", "tunnel", "cloud metadata"] as const),
      ...(["unassigned", "shared"] as const),
    ]);
  });

  test("is refused if it belongs to this machine, public or not", () => {
    const guard = addressGuard(NOTHING, new Set(["93.184.215.14"]));
    expect(guard("recordings.test", "93.184.215.14")).toBe("own");
    expect(guard("recordings.test", "93.184.215.15")).toBeNull();
    expect(ownAddresses()).toContain("127.0.0.1");
  });
});

describe("the operator's allow list", () => {
  const cases: [entries: string[], host: string, address: string, passes: boolean][] = [
    [["10.1.0.0/16"], "a.test", "10.1.2.3", true],
    [["10.1.0.0/16"], "a.test", "10.2.2.3", false],
    [["10.1.2.3"], "a.test", "10.1.2.3", true],
    [["10.1.2.3"], "a.test", "10.1.2.4", false],
    [["10.1.0.0/16"], "a.test", "::ffff:10.1.2.3", false],
    [["fd12:3456::/32"], "a.test", "fd12:3456::7", true],
    [["fd12:3456::/32"], "a.test", "fd12:3457::7", false],
    [["[fd12::7]"], "a.test", "fd12::7", true],
    [["::/0"], "a.test", "127.0.0.1", false],
    [["media.intern.test"], "media.intern.test", "10.1.2.3", true],
    [["Media.Intern.TEST."], "media.intern.test", "10.1.2.3", true],
    [["media.intern.test"], "x.media.intern.test", "10.1.2.3", false],
    [["*.intern.test"], "a.b.intern.test", "fd00::1", true],
    [["*.intern.test"], "intern.test", "10.1.2.3", false],
    [["*.intern.test"], "evilintern.test", "10.1.2.3", false],
    [["bücher.test"], "xn--bcher-kva.test", "192.168.0.1", true],
    [["localhost"], "localhost", "127.0.0.1", true],
    // A name permits private addresses, but not those of cloud credentials, which require an entry of the network.
    [["*.intern.test"], "a.intern.test", "169.254.169.254", false],
    [["*.intern.test"], "a.intern.test", "fe80::1", false],
    [["*.intern.test"], "a.intern.test", "168.63.129.16", false],
    [["*.intern.test"], "a.intern.test", "224.0.0.1", false],
    [["*.intern.test"], "a.intern.test", "::ffff:127.0.0.1", false],
    [["169.254.0.0/16"], "a.test", "169.254.169.254", true],
    [["64:ff9b::/96"], "a.test", "64:ff9b::808:808", true],
  ];
  test.each(cases)("%j permits %s at %s: %p", (entries, host, address, passes) => {
    expect(addressGuard(parseAllowList(entries), new Set())(host, address) === null).toBe(passes);
  });

  test.each([
    ...[
      "",
      "*",
      "*.",
      "http://a.test",
      "a.test/x",
      "a.test:80",
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/8/8",
      "fd00::/129",
    ],
    ...["10.0.0.0/-1", "10.0.0.0/a", "a.*.test", "user@a.test", "a b", "fe80::1%lo", "[::1", "256.1.1.1"],
  ])("refuses an invalid entry and names it: %p", (entry) => {
    expect(() => parseAllowList(["ok.test", entry])).toThrow(`${entry}: `);
  });

  test.each([["0x7f.1"], ["127.1"], ["*.127.1"]])("requires addresses in plain notation: %s", (entry) => {
    expect(() => parseAllowList([entry])).toThrow("127.0.0.1");
  });
});
