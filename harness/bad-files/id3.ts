/** Builds an ID3v2.4 tag (id3.org) of named frames. `claimedBytes` is the length in its header. */
export function id3(
  frames: readonly (readonly [id: string, body: Buffer, claimedBytes?: number])[],
  claimedBytes?: number,
): Buffer {
  const made = Buffer.concat(
    frames.map(([id, body, claimed]) =>
      Buffer.concat([Buffer.from(id), synchsafe(claimed ?? body.length), Buffer.alloc(2), body]),
    ),
  );
  return Buffer.concat([Buffer.from("ID3\x04\0\0", "latin1"), synchsafe(claimedBytes ?? made.length), made]);
}

function synchsafe(value: number): Buffer {
  return Buffer.from([21, 14, 7, 0].map((shift) => (value >> shift) & 0x7f));
}
