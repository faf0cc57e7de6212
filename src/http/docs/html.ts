/** The page that holds the viewer. */
export const docsHtml = /* html */ `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tollgate API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<header>
<h1><a href="/">Tollgate</a> <small>API</small></h1>
<a id="account" href="/console">Sign in</a>
<form id="key-form" autocomplete="off">
<label for="key">API key</label>
<input id="key" type="password" required pattern=" *[!-~]+ *" title="Visible ASCII characters" maxlength="128"
  autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="tg_sk_live_…">
<button>Use key</button>
</form>
</header>
<main>
<p id="state" role="status">Loading …</p>
<noscript>
<p>This page needs JavaScript. The OpenAPI document is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
</noscript>
<div id="reference"></div>
</main>
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/init.js" defer></script>
</body>
</html>
`
