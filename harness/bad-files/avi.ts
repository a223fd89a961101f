/**
 * An AVI file with a second of silence and a subtitle track that contains another file, in the form of players of 2005
 * (`GAB2`). ffmpeg opens it with any matching demuxer: a playlist in it could once read files of the server.
 */
export function aviWithSubtitles(subtitle: string): Buffer {
  const text = Buffer.from(subtitle);
  const name = Buffer.from("x\0", "utf16le");
  const gab2 = Buffer.concat([Buffer.from("GAB2\0"), u16(2), u32(name.length), name, u16(4), u32(text.length), text]);
  const avih = Buffer.alloc(56);
  avih.writeUInt32LE(1_000_000, 0);
  avih.writeUInt32LE(2, 24);
  const sound = list("strl", chunk("strh", stream("auds", 16_000, 2)), chunk("strf", soundFormat()));
  const words = list("strl", chunk("strh", stream("txts", 1, 0)), chunk("strf", Buffer.alloc(0)));
  const body = [
    list("hdrl", chunk("avih", avih), sound, words),
    list("movi", chunk("01tx", gab2), chunk("00wb", Buffer.alloc(32_000))),
  ];
  return chunk("RIFF", Buffer.concat([Buffer.from("AVI "), ...body]));
}

function stream(type: string, rate: number, sampleBytes: number): Buffer {
  const header = Buffer.alloc(56);
  header.write(type, 0, "latin1");
  header.writeUInt32LE(1, 20);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 32);
  header.writeUInt32LE(sampleBytes, 44);
  return header;
}

function soundFormat(): Buffer {
  return Buffer.concat([u16(1), u16(1), u32(16_000), u32(32_000), u16(2), u16(16)]);
}

function list(type: string, ...chunks: readonly Buffer[]): Buffer {
  return chunk("LIST", Buffer.concat([Buffer.from(type), ...chunks]));
}

function chunk(id: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(id), u32(body.length), body, Buffer.alloc(body.length % 2)]);
}

const u16 = (value: number) => little(value, 2);
const u32 = (value: number) => little(value, 4);

function little(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntLE(value, 0, length);
  return bytes;
}
