/** Assigns every page of an Ogg file to the logical stream with this number (RFC 3533, 6). */
export function oggWithSerial(ogg: Buffer, serial: number): Buffer {
  const made = Buffer.from(ogg);
  for (let at = 0; at < made.length; ) {
    const segments = made[at + 26] ?? 0;
    const table = made.subarray(at + 27, at + 27 + segments);
    const size = 27 + segments + table.reduce((sum, length) => sum + length, 0);
    made.writeUInt32LE(serial, at + 14);
    sealOggPage(made.subarray(at, at + size));
    at += size;
  }
  return made;
}

/** Corrects the checksum of a changed page. */
export function sealOggPage(page: Buffer): void {
  page.writeUInt32LE(0, 22);
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x80000000) === 0 ? sum << 1 : (sum << 1) ^ 0x04c11db7;
  }
  page.writeUInt32LE(sum >>> 0, 22);
}
