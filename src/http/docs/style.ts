/** The style of the page, with changes to the style of the viewer. */
export const style = /* css */ `
:root {
  --text: #1b1f24;
  --quiet: #5b6470;
  --ground: #ffffff;
  --raised: #f5f6f8;
  --line: #d5d9e0;
  --accent: #0b5cad;
  --on-accent: #ffffff;
  --wrong: #b3261e;
}
:root.dark-mode {
  --text: #e8eaed;
  --quiet: #a5adb8;
  --ground: #1c2022;
  --raised: #262b2e;
  --line: #3d4449;
  --accent: #8ab8f0;
  --on-accent: #10161c;
  --wrong: #ff8a80;
}
html { background: var(--ground); }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
header {
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem 1.5rem;
  align-items: center;
  justify-content: space-between;
  padding: 0.75rem 1.25rem;
  background: var(--raised);
  border-bottom: 1px solid var(--line);
}
h1 { margin: 0; font-size: 1.125rem; font-weight: 650; }
header a { color: var(--accent); }
h1 a { color: inherit; text-decoration: none; }
h1 small { color: var(--quiet); font-size: inherit; font-weight: 400; }
form { display: flex; flex: 0 1 30rem; min-width: 0; gap: 0.5rem; align-items: center; }
label { white-space: nowrap; color: var(--quiet); font-size: 0.875rem; }
#key, header button {
  box-sizing: border-box;
  min-height: 2.5rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  font: inherit;
}
#key { flex: 1; min-width: 0; padding: 0 0.75rem; background: var(--ground); color: var(--text); }
header button {
  padding: 0 1rem;
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
  cursor: pointer;
}
#key:focus-visible, header button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#state, noscript p {
  max-width: 40rem;
  margin: 1.5rem auto;
  padding: 0 1.25rem;
  text-align: center;
  color: var(--quiet);
}
#state:empty { display: none; }
#state.wrong { color: var(--wrong); }
/* The page has its own field for the key, and only one server. */
.swagger-ui .scheme-container { display: none; }
.swagger-ui .info { margin: 1.5rem 0; }
/* Without these rules, the page is wider than a phone: no response has links, and two buttons are side by side. */
.swagger-ui .response-col_links { display: none; }
.swagger-ui .opblock-section-header { flex-wrap: wrap; row-gap: 1.25rem; }
/* The viewer sets no color for these in dark mode, or one with too little contrast. */
.dark-mode .swagger-ui .examples-select__section-label,
.dark-mode .swagger-ui table.headers td { color: var(--text); }
html.dark-mode .swagger-ui .opblock.opblock-put .opblock-section-header { background: #523524; }
html.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel { color: var(--wrong); }
`
