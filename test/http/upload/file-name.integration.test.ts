import { expect, test } from "bun:test";
import { form, part, post, startReceiving } from "./support.ts";

const cases: [string, string, string][] = [
  ["a plain name", 'filename="call.wav"', "call.wav"],
  ["UTF-8 as browsers send it", 'filename="Gespräch №1 – 会议.mp3"', "Gespräch №1 – 会议.mp3"],
  ["RFC 5987's form, as older Python sends it", "filename*=UTF-8''Gespr%C3%A4ch%20%E2%82%AC.wav", "Gespräch €.wav"],
  ["decomposed letters, as macOS has them", 'filename="Mu\u0308ller.wav"', "M\u00fcller.wav"],
  ["decomposed Korean, as macOS has it", 'filename="\u1112\u1161\u11ab\u1100\u1173\u11af.wav"', "한글.wav"],
  ["an ideograph that Unicode encodes twice", 'filename="神\ufa19﨑.wav"', "神\ufa19﨑.wav"],
  [
    "selectors, flags and spaces",
    'filename="葛\u{e0100}城\u3000\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}  1\ufe0f\u20e3.wav"',
    "葛\u{e0100}城\u3000\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}  1\ufe0f\u20e3.wav",
  ],
  ["hidden text", 'filename="a\u{e0068}\u{e0069}\ufe0f\ufe0f.wav"', "a\ufe0f.wav"],
  ["a path of Unix", 'filename="/etc/../call.wav"', "call.wav"],
  ["a path of Windows", 'filename="C:\\\\Users\\\\me\\\\call.wav"', "call.wav"],
  ["a quotation mark as browsers escape it", 'filename="say %22hi%22.wav"', 'say "hi".wav'],
  ["control characters", 'filename="a\u0001b\u0085c\u007f.wav"', "abc.wav"],
  ["a line break as browsers escape it", 'filename="a%0D%0Ab.wav"', "ab.wav"],
  ["marks that turn text around", 'filename="a\u202Egpj.wav"', "agpj.wav"],
  ["a name of dots", 'filename=".."', "recording"],
  ["an empty name", 'filename=""', "recording"],
  ["a name of blanks", 'filename="   "', "recording"],
  ["a very long name", `filename="${"ä".repeat(400)}"`, "ä".repeat(255)],
];

for (const [what, parameter, name] of cases) {
  test(`${what} gives a name that can be stored and shown`, async () => {
    await using server = await startReceiving();
    const { result } = await post(server, form(part(`name="file"; ${parameter}`, "sound")));
    expect(result.ok && result.file?.name).toBe(name);
  });
}
