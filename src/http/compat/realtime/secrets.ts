import { Type } from "@sinclair/typebox";
import { type ClientSecrets, secretSeconds } from "../../shared/client-secrets.ts";
import { callerOf } from "../../shared/request-context.ts";
import type { UsableModels } from "../../shared/usable-models.ts";
import { readJsonBody } from "./json-body.ts";
import { sessionFields } from "./session-fields.ts";
import { SessionSettings } from "./session-settings.ts";

const expiry = Type.Object({
  anchor: Type.Optional(Type.Literal("created_at")),
  seconds: Type.Optional(Type.Integer({ minimum: secretSeconds.minimum, maximum: secretSeconds.maximum })),
});

const secretBody = Type.Object({ expires_after: Type.Optional(expiry), session: Type.Optional(sessionFields) });

const olderBody = Type.Composite([
  sessionFields,
  Type.Object({
    client_secret: Type.Optional(
      Type.Object({ expires_at: Type.Optional(expiry), expires_after: Type.Optional(expiry) }),
    ),
  }),
]);

interface SecretServices {
  readonly models: UsableModels;
  readonly clientSecrets: ClientSecrets;
}

/** Handles POST /v1/realtime/client_secrets: creates a secret that opens one session with the settings of the request. */
export async function createClientSecret(request: Request, services: SecretServices) {
  const { session = {}, expires_after } = await readJsonBody(request, secretBody);
  const settings = new SessionSettings().with(session, services.models);
  const { keyId, seconds } = { keyId: callerOf(request).key.id, seconds: expires_after?.seconds };
  const secret = services.clientSecrets.create(keyId, seconds ?? secretSeconds.default, session);
  const expires_at = Math.floor(secret.expiresAt / 1000);
  return { value: secret.value, expires_at, session: { ...settings.toSession(secret.id), expires_at } };
}

/** Handles POST /v1/realtime/transcription_sessions, the older form of the same. */
export async function createTranscriptionSession(request: Request, services: SecretServices) {
  const { client_secret, ...session } = await readJsonBody(request, olderBody);
  const settings = new SessionSettings().with(session, services.models);
  const seconds = (client_secret?.expires_at ?? client_secret?.expires_after)?.seconds ?? secretSeconds.default;
  const secret = services.clientSecrets.create(callerOf(request).key.id, seconds, session);
  const expires_at = Math.floor(secret.expiresAt / 1000);
  return { ...settings.toOlderSession(secret.id), client_secret: { value: secret.value, expires_at } };
}
