import { readFile, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import t from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { Chain } from '../../../src/audit/verify/chain.ts'
import type { Linkable, link } from '../../../src/engine/log/hash-chain.ts'
import { busyLog } from '../../support/busy-log.ts'

/** The vendor of all runs charges for them. */
const cost = { amountMicros: 80_000, currency: 'USD', source: 'reported', salt: '0'.repeat(32) }
const events = (await busyLog(t)).map(({ stored, ...event }): RawEvent => {
  if (event.type === 'RunCompleted') return { ...event, data: { ...(event.data as object), cost } }
  return stored ? { ...event, stored } : event
})
const WRITER = resolve('src/engine/log/hash-chain.ts')

/** Mistakes that the writer of links could make, in format 4, as changes to its source. */
const mistakes: Record<string, [from: string, to: string]> = {
  none: ['', ''],
  'the link before is left out': ['sha256((previous ?? firstPrevious(event)) + linkText)', 'sha256(linkText)'],
  'streams begin alike': ['sha256(canonicalJson({ format, stream }))', 'GENESIS_OF_FORMAT_1'],
  'the id is left out': ['JSON.stringify(id)', "''"],
  'the metadata is left out': ['sha256(metadataText)', "''"],
  'a part of the data is left out': ['sha256(dataText)', 'sha256(dataText.slice(1))'],
  'the data are hashed in the clear': ['const { stored = event.data } = event', 'const stored = event.data'],
  'a cost is left out': ['cost: sha256(canonicalJson(cost))', "cost: ''"],
  'a cost is shown': ['cost: sha256(canonicalJson(cost))', 'cost'],
  'names are not in order': [
    'const [dataText, metadataText] = [canonicalJson(data),',
    'const [dataText, metadataText] = [JSON.stringify(data),',
  ],
}

/** The writer with a mistake, and the chain that checks what it wrote, compiled together as in the service. */
const compiled = async (
  [from, to]: [string, string],
  name: string,
): Promise<{ link: typeof link; Chain: typeof Chain }> => {
  const outfile = resolve('dist', 'chains', `${name}.js`)
  t.teardown(() => rm(outfile))
  await build({
    stdin: {
      contents: `export { link } from '${WRITER}'; export { Chain } from './src/audit/verify/chain.ts'`,
      resolveDir: resolve(''),
    },
    plugins: [
      {
        name: 'mistake',
        setup: ({ onLoad }) =>
          onLoad({ filter: /hash-chain\.ts$/ }, async ({ path }) => {
            const source = await readFile(path, 'utf8')
            if (!source.includes(from)) throw new Error(`${path} does not hold ${from}`)
            return { contents: source.replace(from, () => to), loader: 'ts' }
          }),
      },
    ],
    ...{ outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', logLevel: 'silent' },
  })
  return import(pathToFileURL(outfile).href)
}

t.test('a link that the writer made by mistake is found', async t => {
  for (const [name, change] of Object.entries(mistakes)) {
    const { link, Chain } = await compiled(change, name.replaceAll(' ', '-'))
    const chains = new Map<string, { chain: Chain; hash?: string }>()
    let wrong = 0
    for (const event of events) {
      const { chain, hash: before } = chains.get(event.stream) ?? { chain: new Chain() }
      const hash = link(before, event as RawEvent & Linkable)
      chains.set(event.stream, { chain, hash })
      const found: string[] = []
      chain.take({ ...event, metadata: { ...(event.metadata as object), hash } }, what => found.push(what))
      if (found.includes('its link does not match what was written')) wrong += 1
    }
    if (name === 'none') t.equal(wrong, 0, name)
    else t.ok(wrong >= chains.size, `${name}: ${wrong}`)
  }
})
