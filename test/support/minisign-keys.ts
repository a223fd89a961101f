import { generateKeyPairSync, randomBytes } from "node:crypto";

/** Makes a key pair of minisign without a password, in the files of `minisign -G -W`. */
export function makeKeyPair(): { readonly secret: string; readonly public: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const point = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const id = randomBytes(8);
  // Algorithms, and salt and limits of a key derivation, which are zero without a password, as the checksum at the end.
  const header = Buffer.alloc(54);
  header.write("Ed\0\0B2", "latin1");
  const secret = Buffer.concat([header, id, seed, point, Buffer.alloc(32)]);
  const shown = Buffer.concat([Buffer.from("Ed"), id, point]);
  return {
    secret: `untrusted comment: minisign secret key\n${secret.toString("base64")}\n`,
    public: `untrusted comment: minisign public key\n${shown.toString("base64")}\n`,
  };
}
