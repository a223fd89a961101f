export { type Credentials, createAuthority, issueCertificate } from "./certificates.ts";
