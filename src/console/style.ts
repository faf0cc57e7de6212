/** The style of all pages. They are one column, which fits any screen from 320 pixels. */
export const style = /* css */ `
:root {
  --ink: #1d2329; --paper: #fff; --soft: #56616c; --line: #7b8794; --accent: #0b5cad; --on-accent: #fff;
  --fault: #a3151c; --fault-paper: #fdeeee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6eaee; --paper: #14181c; --soft: #a9b4bf; --line: #76828e; --accent: #7ab8f5; --on-accent: #0d1a26;
    --fault: #ff9d9d; --fault-paper: #3a1a1c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 0 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
header, main { max-width: 28rem; margin: 0 auto; }
header { padding: 1.25rem 0; }
header a { color: inherit; font-weight: 700; text-decoration: none; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); font-size: .9rem; }
a { color: var(--accent); }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
label .soft { font-weight: 400; }
input {
  width: 100%; padding: .6rem .7rem; margin-bottom: 1rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: .4rem;
}
input[aria-invalid] { border-color: var(--fault); }
input.code { font-size: 1.4rem; letter-spacing: .15em; text-transform: uppercase; }
button, .button {
  display: inline-block; padding: .6rem 1.1rem; font: inherit; font-weight: 600; cursor: pointer; text-decoration: none;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .4rem;
}
button:hover, .button:hover { filter: brightness(.9); }
button.quiet, .button.quiet { color: var(--accent); background: transparent; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.fault {
  padding: .7rem .9rem; color: var(--fault); background: var(--fault-paper); border-left: 4px solid var(--fault);
}
.balance { font-size: 2rem; font-weight: 700; line-height: 1.2; }
ul { padding-left: 1.2rem; margin: 0 0 1rem; }
.note { margin-top: 1.25rem; }
.row { display: flex; flex-wrap: wrap; gap: .75rem; }
.row form { margin: 0; }
code { font-size: .95em; }
`
