/** The style of all pages, for screens of 320 pixels and wider. */
export const style = /* css */ `
@font-face {
  font-family: Inter; font-weight: 400; font-display: swap; src: url(/console/fonts/400.woff2) format("woff2");
}
@font-face {
  font-family: Inter; font-weight: 500; font-display: swap; src: url(/console/fonts/500.woff2) format("woff2");
}
@font-face {
  font-family: Inter; font-weight: 600; font-display: swap; src: url(/console/fonts/600.woff2) format("woff2");
}
:root {
  --paper: #faf9f7; --surface: #fff; --sunk: #f3f2ef; --line: #e6e4df; --line-strong: #8b877f;
  --ink: #17191b; --ink-2: #565b60; --ink-3: #63696e;
  --accent: #0b6b5c; --accent-hover: #095a4d; --on-accent: #fff;
  --red: #b3261e; --red-soft: #fbe9e7; --amber: #92500b; --amber-soft: #fbf0dd;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0e1113; --surface: #15191c; --sunk: #0b0e10; --line: #252b30; --line-strong: #66717a;
    --ink: #eceeee; --ink-2: #a9b1b7; --ink-3: #8a939a;
    --accent: #54c7b0; --accent-hover: #6fd6c1; --on-accent: #05231c;
    --red: #ff8a80; --red-soft: #3a1a18; --amber: #f0b35b; --amber-soft: #33250e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 400 14px/20px Inter, system-ui, sans-serif; -webkit-font-smoothing: antialiased;
}
a { color: var(--accent); text-underline-offset: 2px; }
h1, h2 { font-weight: 600; letter-spacing: -.014em; margin: 0; }
h1 { font-size: 28px; line-height: 36px; }
h2 { font-size: 16px; line-height: 24px; }
p { margin: 0; }
main > * + * { margin-top: 16px; }
nav {
  display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; max-width: 1112px; min-height: 64px;
  margin: 0 auto; padding: 8px 24px;
}
nav a { color: var(--ink-2); font-weight: 500; text-decoration: none; }
nav a:hover { color: var(--ink); }
nav .brand { display: flex; align-items: center; gap: 10px; color: var(--ink); font-weight: 600; margin-right: 8px; }
nav .button { margin-left: auto; }
.mark { width: 22px; height: 22px; color: var(--accent); fill: none; stroke: currentColor; stroke-width: 2.2;
  stroke-linecap: round; }
.mark circle { fill: currentColor; stroke: none; }
main { margin: 0 auto; padding: 40px 24px 72px; }
main.form { max-width: 424px; }
main.page { max-width: 1112px; }
.soft { color: var(--ink-2); }
.small { color: var(--ink-3); font-size: 12px; line-height: 16px; font-weight: 400; }
.between { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 12px; }
.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.row form { margin: 0; }
label, legend { display: block; font-weight: 500; margin-bottom: 6px; padding: 0; }
label .small, legend .small { display: inline; }
form > * + * { margin-top: 16px; }
form > label + input { margin-top: 0; }
fieldset { border: 0; margin-inline: 0; margin-bottom: 0; padding: 0; display: grid; gap: 8px; }
.choice { display: grid; grid-template-columns: 16px 1fr; gap: 0 10px; margin-bottom: 0; font-weight: 500; }
.choice input { width: 16px; min-height: 16px; margin: 2px 0; accent-color: var(--accent); }
.choice .small { grid-column: 2; }
input {
  width: 100%; min-height: 40px; padding: 9px 12px; font: inherit; color: inherit; background: var(--surface);
  border: 1px solid var(--line-strong); border-radius: 8px;
}
input[aria-invalid] { border-color: var(--red); }
input.code { font: 500 18px/24px ui-monospace, monospace; letter-spacing: .15em; text-transform: uppercase; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 40px; padding: 0 16px; font: inherit;
  font-weight: 500; cursor: pointer; text-decoration: none; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: 8px; transition: background-color .12s;
}
button:hover, .button:hover { background: var(--accent-hover); }
button.quiet, .button.quiet { color: var(--ink); background: var(--surface); border-color: var(--line-strong); }
button.quiet:hover, .button.quiet:hover { background: var(--sunk); }
button.red { background: var(--red); color: var(--paper); }
nav .button.quiet { min-height: 34px; }
a.red { color: var(--red); font-weight: 500; text-decoration: none; }
a.red:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.fault { padding: 10px 14px; color: var(--red); background: var(--red-soft); border-radius: 8px; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 20px; min-width: 0; }
.card > * + * { margin-top: 16px; }
.card.ready { border-color: var(--accent); }
.card.flush { padding: 0; overflow: auto; }
.two { display: grid; grid-template-columns: minmax(0, 1fr) 344px; gap: 20px; align-items: start; }
.stack { display: grid; gap: 20px; min-width: 0; }
.figure {
  font-size: 28px; line-height: 36px; font-weight: 600; letter-spacing: -.02em; font-variant-numeric: tabular-nums;
}
table { width: 100%; border-collapse: collapse; }
th { font-size: 12px; line-height: 16px; font-weight: 500; color: var(--ink-3); text-align: left; padding: 10px 16px; }
td { padding: 8px 16px; height: 40px; border-top: 1px solid var(--line); color: var(--ink-2); }
td:first-child { color: var(--ink); font-weight: 500; }
th.num, td.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.badge { padding: 2px 8px; border-radius: 10px; font-size: 12px; line-height: 16px; font-weight: 500; margin-left: 8px;
  background: var(--amber-soft); color: var(--amber); white-space: nowrap; }
code, pre { font: 400 13px/20px ui-monospace, "JetBrains Mono", monospace; }
.lines { padding: 12px 14px; overflow: auto; background: var(--sunk); border-radius: 8px; }
pre { margin: 0; overflow-wrap: normal; }
ul { padding-left: 18px; margin: 0; }
.hero { max-width: 760px; padding: 24px 0; }
.hero h1 { font-size: 48px; line-height: 54px; letter-spacing: -.028em; }
.hero p { font-size: 18px; line-height: 28px; color: var(--ink-2); margin: 20px 0; }
.sample { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); padding: 0; overflow: hidden; }
.sample > * + * { margin-top: 0; }
.sample img { display: block; width: 100%; height: 100%; min-height: 240px; object-fit: cover; }
.sample pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.sample > div { padding: 20px; display: grid; gap: 16px; align-content: start; min-width: 0; }
.three { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 28px; padding: 32px 0; }
.three p { color: var(--ink-2); margin-top: 6px; }
.steps { display: grid; grid-template-columns: minmax(0, 1fr); gap: 28px; max-width: 760px; }
.steps section > * + * { margin-top: 8px; }
@media (max-width: 720px) {
  main { padding: 20px 16px 56px; }
  nav { padding: 10px 16px; }
  nav a { order: 2; }
  nav .brand, nav .button { order: 0; }
  nav::before { content: ""; order: 1; flex-basis: 100%; }
  button, .button, nav .button.quiet { min-height: 44px; }
  .two, .three, .sample { grid-template-columns: minmax(0, 1fr); }
  .hero { padding: 0; }
  .hero h1 { font-size: 34px; line-height: 40px; }
  td, th { padding-left: 12px; padding-right: 12px; }
  .wide-only { display: none; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; } }
`
