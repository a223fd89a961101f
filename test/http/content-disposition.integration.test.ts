import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { exportFileName } from "../../src/exports/index.ts";
import { contentDisposition } from "../../src/http/shared/content-disposition.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Parses both names of a header. Fails unless it has exactly the form of RFC 6266 and RFC 8187. */
function namesIn(header: string): { readonly ascii: string; readonly full: string } {
  const value =
    /^attachment; filename="([\x20\x21\x23-\x5b\x5d-\x7e]+)"; filename\*=UTF-8''((?:[\w!#$&+.^`|~-]|%[\dA-F]{2})+)$/;
  const [, ascii = "", encoded = ""] = value.exec(header) ?? [];
  expect([header, ascii !== "" && encoded !== ""]).toEqual([header, true]);
  const bytes = encoded.replace(/%(..)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return { ascii, full: decoder.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))) };
}

/** Returns whether a name is a safe file name in every normalization form of Unicode. */
function isSafe(name: string): boolean {
  return ["NFC", "NFD", "NFKC", "NFKD"].every((form) => !/[\p{Cc}"*/:<>?\\|]|^[. ]/u.test(name.normalize(form)));
}

const england = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

describe("the file name of an export", () => {
  const names: [string | null, string, string][] = [
    ["interview", "interview", "interview"],
    ["Gespräch", "Gesprach", "Gespräch"],
    ["Mu\u0308ller (NFD)", "Muller (NFD)", "Müller (NFD)"],
    ["Straße, ẞ", "Strasse, SS", "Straße, ẞ"],
    [
      "Ærø, Ångström, þing, Ðorð, smørbrød",
      "Aero, Angstrom, thing, Dord, smorbrod",
      "Ærø, Ångström, þing, Ðorð, smørbrød",
    ],
    ["Zażółć gęślą jaźń Łódź", "Zazolc gesla jazn Lodz", "Zażółć gęślą jaźń Łódź"],
    ["Phạm Nguyễn Đức Ước", "Pham Nguyen Duc Uoc", "Phạm Nguyễn Đức Ước"],
    ["İstanbul ığdır şçö", "Istanbul igdir sco", "İstanbul ığdır şçö"],
    ["l’été – “œuvre” à 5 €", "l'ete - 'oeuvre' a 5 EUR", "l’été – “œuvre” à 5 €"],
    ["日本語", "transcript-ID", "日本語"],
    ["интервью", "transcript-ID", "интервью"],
    ["\u1112\u1161\u11ab\u1100\u1173\u11af", "transcript-ID", "한글"],
    ["😀", "transcript-ID", "😀"],
    ["会議 2026-11 東京", "2026-11", "会議 2026-11 東京"],
    ["интервью с Anna", "Anna", "интервью с Anna"],
    ["a 日 b", "a _ b", "a 日 b"],
    ["_draft  1", "_draft  1", "_draft  1"],
    ["👍.bashrc", "bashrc", "👍.bashrc"],
    ["\u200d.bashrc", "bashrc", "\u200d.bashrc"],
    ["神\ufa19", "transcript-ID", "神\ufa19"],
    ["\u8fbb\u{e0100} talk", "talk", "\u8fbb\u{e0100} talk"],
    [`${england} talk`, "talk", `${england} talk`],
    ["\u06dd a\u00adb", "ab", "\u06dd ab"],
    ["ﬁle ①", "file 1", "ﬁle ①"],
    ["a\uff02; filename=\uff02evil.exe", "a__ filename=_evil.exe", "a_; filename=_evil.exe"],
    ["\uff0f\uff0fetc\uff0fpasswd", "__etc_passwd", "__etc_passwd"],
    ["\uff0e\uff0e\uff0f\uff0e\uff0e\uff0fx", "_.._x", "_\uff0e\uff0e_x"],
    ["a\uff3cb\ufe68c\u2216d", "a_b_c_d", "a_b_c\u2216d"],
    ["a\uff0ab\ufe61c\u204ed", "a_b_c_d", "a_b_c\u204ed"],
    ["a\uff1ab\ufe55c\uff5cd\uff1ce\uff1ef\uff1fg", "a_b_c_d_e_f_g", "a_b_c_d_e_f_g"],
    ["a\u2100b \u2105", "a_b _", "a_b _"],
    ["\u2025x", "x", "x"],
    ["\u2026 \u00a0x\u2024\u3000", "x", "x"],
    ["100%22x; y\u037ez", "100_22x_ y_z", "100%22x; y\u037ez"],
    ["\uff05\uff12\uff12", "22", "\uff05\uff12\uff12"],
    ['a"\\\r\nSet-Cookie: x', "a____Set-Cookie_ x", "a____Set-Cookie_ x"],
    ["a\u202egnp.exe\u2066\u061c\ufeff\u{e0041}", "agnp.exe", "agnp.exe"],
    ["\ud800x", "x", "\ufffdx"],
    ["", "transcript", "transcript"],
    [null, "transcript", "transcript"],
    ["...", "transcript", "transcript"],
    ["\u2025\uff0e", "transcript", "transcript"],
  ];
  test.each(names)("%p is %p in ASCII and %p in full", (name, ascii, full) => {
    const found = namesIn(contentDisposition(exportFileName(name, "srt"), "ID"));
    expect(found).toEqual({ ascii: `${ascii}.srt`, full: `${full}.srt` });
  });

  test("is safe in every normalization form of Unicode, whichever character the recording's name contains", () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code));
    // All other characters have one form and no meaning in a header or a path.
    const special = all.filter(
      (each) => each < "\x80" || each.normalize("NFKD") !== each || /[\p{Cc}\p{Cf}\p{Z}]/u.test(each),
    );
    const unsafe: string[] = [];
    for (let start = 0; start < special.length; start += 8) {
      const header = contentDisposition(exportFileName(special.slice(start, start + 8).join("a"), "txt"), "ID");
      const { ascii, full } = namesIn(header);
      if (!isSafe(ascii) || !isSafe(full)) unsafe.push(header);
    }
    expect(unsafe).toEqual([]);
  });

  test("has at most 255 bytes in both forms, however long the recording's name is", () => {
    for (const name of [
      "x".repeat(5000),
      "ä".repeat(5000),
      "\ufdfa".repeat(300),
      "👩‍👩‍👧".repeat(99),
      "\uff02".repeat(999),
    ]) {
      const { ascii, full } = namesIn(contentDisposition(exportFileName(name, "docx"), "ID"));
      expect(ascii.length).toBeLessThan(200);
      expect(Buffer.byteLength(full)).toBeLessThan(200);
      expect([full, isSafe(full)]).toEqual([full, true]);
    }
  });

  test.skipIf(Bun.which("curl") === null)(
    "is the name under which curl saves the file, inside its folder",
    async () => {
      const hostile = [
        "a\uff02; filename=\uff02evil.exe",
        "\uff0e\uff0e\uff0f\uff0e\uff0e\uff0fx",
        '"; filename="../evil',
        "..",
        "\u2025",
        "Müller",
        "Mu\u0308ller & Søn",
        "日本語",
        "👍.bashrc",
      ];
      using folder = temporaryDirectory();
      using server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: ({ url }) => {
          const name = hostile[Number(new URL(url).pathname.slice(1))] ?? "";
          return new Response("x", {
            headers: { "Content-Disposition": contentDisposition(exportFileName(name, "txt"), "ID") },
          });
        },
      });
      for (const [at, name] of hostile.entries()) {
        const inside = join(folder.path, "outer", "inner", String(at));
        mkdirSync(inside, { recursive: true });
        const curl = Bun.spawn(["curl", "-sOJ", `http://127.0.0.1:${server.port}/${at}`], {
          cwd: inside,
          stdio: ["ignore", "ignore", "inherit"],
        });
        expect(await curl.exited).toBe(0);
        expect(readdirSync(inside)).toEqual([namesIn(contentDisposition(exportFileName(name, "txt"), "ID")).ascii]);
      }
      expect(readdirSync(folder.path)).toEqual(["outer"]);
      expect(readdirSync(join(folder.path, "outer"))).toEqual(["inner"]);
    },
  );
});
