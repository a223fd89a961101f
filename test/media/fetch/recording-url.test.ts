import { describe, expect, test } from "bun:test";
import { parseAllowList } from "../../../src/addresses/index.ts";
import { checkRecordingUrl } from "../../../src/media/index.ts";

const NOTHING = parseAllowList([]);

describe("a link to a recording", () => {
  test.each([
    ["https://media.example.org/a.mp3", "https://media.example.org/a.mp3"],
    ["  http://media.example.org:8080/a%20b.mp3?x=1&y=2 \n", "http://media.example.org:8080/a%20b.mp3?x=1&y=2"],
    ["HTTPS://MEDIA.Example.ORG/A.mp3", "https://media.example.org/A.mp3"],
    ["https://bücher.example/hörbuch.ogg", "https://xn--bcher-kva.example/h%C3%B6rbuch.ogg"],
    ["https://8.8.8.8/a.mp3", "https://8.8.8.8/a.mp3"],
    ["https://[2606:4700:4700::1111]/a.mp3", "https://[2606:4700:4700::1111]/a.mp3"],
    ["https://media.example.org/a.mp3#t=30", "https://media.example.org/a.mp3"],
    ["https://media.example.org/watch?v=1&list=2", "https://media.example.org/watch?v=1&list=2"],
    ["https://media.example.org/playlist/a.mp3?list=2", "https://media.example.org/playlist/a.mp3?list=2"],
    ["https://media.example.org/playlist", "https://media.example.org/playlist"],
    ["https://media.example.org/a.m3u8/a.mp3", "https://media.example.org/a.m3u8/a.mp3"],
    ["https://media.example.org/m3u8", "https://media.example.org/m3u8"],
    ["https://media.example.org/a.mp3?from=a.m3u8", "https://media.example.org/a.mp3?from=a.m3u8"],
    ["https://media.example.org/100%.mp3", "https://media.example.org/100%.mp3"],
  ])("is accepted without its fragment: %s", (text, url) => {
    const checked = checkRecordingUrl(text, NOTHING);
    expect(checked.ok && checked.url.href).toBe(url);
  });

  test.each([
    ...["", "a.mp3", "media.example.org/a.mp3", "//media.example.org/a.mp3", "ftp://media.example.org/a.mp3"],
    ...[
      "file:///etc/passwd",
      "data:audio/mpeg;base64,AA",
      "javascript:1",
      "gopher://a.example/",
      "blob:https://a.example/1",
    ],
    ...["http:media.example.org", "http:/media.example.org", "http:\\\\media.example.org", "https:///a.mp3", "http://"],
    ...["https://user@media.example.org/", "https://user:pass@media.example.org/", "https://:pass@media.example.org/"],
    ...[
      "https://a.example/\u0000",
      "https://exa\nmple.org/a.mp3",
      "https://a.example/a\tb",
      "https://a.example:99999/",
    ],
    `https://a.example/${"x".repeat(2031)}`,
  ])("is refused if it is no supported http or https link: %p", (text) => {
    expect(checkRecordingUrl(text, NOTHING)).toMatchObject({ ok: false, kind: "invalid" });
  });

  test("may have 2,048 characters", () => {
    expect(checkRecordingUrl(`https://a.example/${"x".repeat(2030)}`, NOTHING).ok).toBe(true);
    expect(checkRecordingUrl(`https://a.example/${"🎙".repeat(2030)}`, NOTHING).ok).toBe(true);
  });

  test.each([
    ...["/a.m3u", "/a.m3u8", "/a.pls", "/a.xspf", "/a.asx", "/A.M3U8?token=1", "/a.m3u8#x", "/a.m3u%38", "/a.m3u8/"],
    ...["/a.m3u8;session=1", "/playlist?list=PL1", "/music/playlist?x=1&list=PL1", "/playlist/?list=PL1"],
  ])("is recognized as a playlist: %s", (path) => {
    expect(checkRecordingUrl(`https://a.example${path}`, NOTHING)).toMatchObject({ ok: false, kind: "playlist" });
  });

  test("may lead to a host or network that the operator permits", () => {
    const allow = parseAllowList(["10.0.0.0/8", "localhost"]);
    expect(checkRecordingUrl("http://10.1.2.3/a.mp3", allow).ok).toBe(true);
    expect(checkRecordingUrl("http://0x0a010203/a.mp3", allow).ok).toBe(true);
    expect(checkRecordingUrl("http://localhost:8000/a.mp3", allow).ok).toBe(true);
    expect(checkRecordingUrl("http://192.168.1.2/a.mp3", allow).ok).toBe(false);
    expect(checkRecordingUrl("http://a.localhost/a.mp3", allow).ok).toBe(false);
  });

  test("is refused with a message that does not quote it", () => {
    for (const text of [
      "https://user:geheim@a.example/",
      "http://10.0.0.1/geheim",
      "geheim",
      "https://a.example/geheim.pls",
    ]) {
      const checked = checkRecordingUrl(text, NOTHING);
      expect(checked.ok || checked.reason).not.toMatch(/geheim|10\.0/);
    }
  });
});
