import { programVersion } from "../../program/index.ts";
import { swaggerUiVersion } from "./swagger-ui.ts";

/** The HTML page. Its URLs are relative, so that it works behind a proxy's prefix. */
export const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Transcribe API</title>
<link rel="icon" type="image/png" href="docs/icon.png?${swaggerUiVersion}">
<link rel="stylesheet" href="docs/swagger-ui.css?${swaggerUiVersion}">
</head>
<body>
<noscript>This page needs JavaScript; the same is at <a href="openapi.json">openapi.json</a>.</noscript>
<main id="page"></main>
<script src="docs/swagger-ui-bundle.js?${swaggerUiVersion}"></script>
<script src="docs/page.js?${programVersion}"></script>
</body>
</html>
`;

/** The page's own script. It calls no external validator and stores nothing. */
export const pageScript = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#page",
  deepLinking: true,
  validatorUrl: "none",
  persistAuthorization: false,
});
`;

/**
 * Content Security Policy of the page. It may load files of this server and call it. It allows no inline or foreign
 * scripts, no frames and no forms.
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
