import { readFileSync } from "node:fs";
import type { Settings } from "../config/index.ts";
import { ExpectedError, messageOf } from "../text/index.ts";
import { Bucket, type BucketOptions } from "./bucket.ts";

/** The settings of the object store can't be used; the message names the setting and the fault. */
export class BucketSettingsError extends ExpectedError {
  override readonly name = "BucketSettingsError";
}

/**
 * Returns how to reach the bucket of the settings; null if audio is stored on this machine.
 * @throws {BucketSettingsError} for a setting or a file that can't be used
 */
export function bucketOptionsOf({ storage, s3 }: Pick<Settings, "storage" | "s3">): BucketOptions | null {
  if (storage.audio === "") return null;
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(storage.audio) ?? [];
  const prefix = path === "" || path.endsWith("/") ? path : `${path}/`;
  return {
    bucket,
    prefix,
    endpoint: s3.endpoint === "" ? `https://s3.${s3.region}.amazonaws.com` : s3.endpoint.replace(/\/$/, ""),
    region: s3.region,
    credentials: readCredentials(s3.credentials_file),
    authority: s3.ca_file === "" ? null : readFile("s3.ca_file", s3.ca_file),
    headers: encryptionHeaders(s3.encryption),
  };
}

/**
 * Tests whether the bucket of the settings can be read now.
 * @returns its address, and why not; null without a bucket
 * @throws {BucketSettingsError}
 */
export async function probeBucket(settings: Pick<Settings, "storage" | "s3">) {
  const options = bucketOptionsOf(settings);
  if (options === null) return null;
  const bucket = new Bucket(options);
  const fault = await bucket.has("owner").then(() => null, messageOf);
  return { address: bucket.address, fault };
}

/** Reads the first key of a file in the form of AWS's own programs. */
function readCredentials(path: string): BucketOptions["credentials"] {
  if (path === "") {
    throw new BucketSettingsError("storage.audio names a bucket, so s3.credentials_file must name a file with its key");
  }
  const text = readFile("s3.credentials_file", path);
  const settingOf = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*(\\S+)\\s*$`, "m").exec(text)?.[1];
  const [accessKeyId, secretAccessKey] = [settingOf("aws_access_key_id"), settingOf("aws_secret_access_key")];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new BucketSettingsError(
      `s3.credentials_file: ${path} must have the lines aws_access_key_id = … and aws_secret_access_key = …`,
    );
  }
  return { accessKeyId, secretAccessKey };
}

function readFile(setting: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new BucketSettingsError(`${setting}: ${path} can't be read: ${messageOf(error)}`);
  }
}

/** @param encryption `AES256`, `aws:kms`, or `aws:kms:` and the key's id */
function encryptionHeaders(encryption: string): Readonly<Record<string, string>> {
  if (encryption === "") return {};
  const [, method = "", keyId] = /^(AES256|aws:kms(?=:|$)):?(.*)$/.exec(encryption) ?? [];
  const header = "x-amz-server-side-encryption";
  return { [header]: method, ...(keyId === "" || keyId === undefined ? {} : { [`${header}-aws-kms-key-id`]: keyId }) };
}
