import { visible } from '../domain/visible.ts'

// Customers and vendors choose names, reasons and messages, so commands print nothing for people unchanged.
for (const name of ['log', 'error'] as const) {
  const print = console[name].bind(console)
  console[name] = (...texts: unknown[]) =>
    print(...texts.map(text => (typeof text === 'string' ? visible(text) : text)))
}
