import { visible } from '../domain/visible.ts'

// Names, reasons and messages come from customers and vendors. Whatever a command prints for people passes here.
for (const name of ['log', 'error'] as const) {
  const print = console[name].bind(console)
  console[name] = (...texts: unknown[]) =>
    print(...texts.map(text => (typeof text === 'string' ? visible(text) : text)))
}
