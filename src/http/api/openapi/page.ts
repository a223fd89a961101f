import icon from "swagger-ui-dist/favicon-32x32.png" with { type: "file" };
import manifest from "swagger-ui-dist/package.json" with { type: "json" };
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { programVersion } from "../../../program/index.ts";

/** The files of Swagger UI (Apache-2.0) that the page needs. */
export const swaggerUiFiles = [
  { name: "swagger-ui-bundle.js", path: script, mediaType: "text/javascript; charset=utf-8" },
  { name: "swagger-ui.css", path: style, mediaType: "text/css; charset=utf-8" },
  { name: "icon.png", path: icon, mediaType: "image/png" },
] as const;

const swaggerUiVersion: string = manifest.version;

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
<noscript>This page needs JavaScript; its content is also at <a href="openapi.json">openapi.json</a>.</noscript>
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
