import { execFile } from 'node:child_process'
import { createDecipheriv } from 'node:crypto'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import t from 'tap'
import { isAcceptance } from '../../schemas/account-events.ts'
import type { Receipt } from '../../schemas/catalog.ts'
import { events } from '../../schemas/events.ts'
import { PRIVATE, PRIVATE_URL, personalFields } from '../../schemas/personal.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { link } from '../../src/engine/log/hash-chain.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { eventCodec } from '../../src/services/event-codec.ts'
import { decryptedLog } from '../../src/services/vault/decrypted-log.ts'
import { Vault } from '../../src/services/vault/vault.ts'
import { collect } from '../support/collect.ts'
import { type LinkedEvent, type LinkParts, makeLink } from '../support/links.ts'
import { logOf } from '../support/log-of.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Vector extends LinkParts {
  personalText?: string
  event: LinkedEvent & { metadata: { format?: number; hash: string } }
}

const page = await readFile('docs/ledger-format.md', 'utf8')
const blocks = [...page.matchAll(/^```json\n(.*?)\n```$/gms)].map(([, json = '']) => json)
const vectors = blocks.map((json): Vector => JSON.parse(json))

/** The vectors of each stream. */
const streams = new Map<string, Vector[]>()
for (const vector of vectors) {
  const { stream } = vector.event
  streams.set(stream, [...(streams.get(stream) ?? []), vector])
}

const formatsOf = (stream: Vector[]) => stream.map(({ event }) => event.metadata.format ?? 1).join('')
const nameOf = ({ event: { stream, revision } }: Vector) => `${stream} ${revision}`

t.test('the page has a stream of two formats, and one for each later format that begins in it', async t => {
  const formats = [...streams.values()].map(formatsOf)
  t.match(formats, [/^1+2+$/, /^2+$/, /^3+$/, /^4+$/])
  t.ok(formats.every(each => each.length > 3))
  for (const each of streams.values())
    t.same(
      each.map(({ event }) => event.revision),
      [...each.keys()],
    )
})

t.test(
  'all streams in the clear have names to sort, numbers in several notations and characters outside ASCII',
  async t => {
    for (const stream of streams.values()) {
      const accepted = stream.find(({ event }) => isAcceptance(event)) as Vector
      if (accepted.personalText) continue
      const written = blocks[vectors.indexOf(accepted)] as string
      const canonical = accepted.dataText ?? accepted.linkText
      t.match(written, /[\d.]+E-?\d/)
      t.match(canonical, /1e-7/)
      t.match(canonical, /1e\+\d\d/)
      t.match(canonical, /\u{1f600}.*\ufb33/u)
    }
  },
)

t.test('the page names every event type with all of its fields, and every closed value', async t => {
  const named = new Set(page.replaceAll(/^```.*?^```$/gms, '').match(/\w+/g))
  const missing = (names: string[]) => names.filter(name => !named.has(name))
  for (const shapes of Object.values(events))
    for (const [type, shape] of Object.entries(shapes)) t.same(missing([type, ...wordsIn(shape)]), [], type)
})

/** The names of all fields in a schema, and its enumerated values. */
const wordsIn = (schema: unknown): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, enum: values = [], ...others } = schema as { properties?: object; enum?: string[] }
  return [...Object.keys(properties), ...values, ...[properties, others].flatMap(Object.values).flatMap(wordsIn)]
}

t.test('the script on the page dumps an embedded log', async t => {
  const [, script = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? []
  const folder = await temporaryFolder(t)
  await copyFile('test/fixtures/format-1/log/data.mdb', join(folder, 'data.mdb'))
  const node = promisify(execFile)(process.execPath, ['--input-type=module', '-', folder])
  node.child.stdin?.end(script)
  const dumped = (await node).stdout.trimEnd().split('\n')
  const read = dumped.map(line => eventCodec.decode(JSON.parse(line)))
  t.ok(read.length > 30)
  t.same(
    read.map(({ position }) => position),
    [...read.keys()],
  )
})

t.test('every text, digest and link is what the specification gives', async t => {
  for (const stream of streams.values()) {
    let previous: string | undefined
    for (const vector of stream) {
      const { event, personalText: _, ...parts } = vector
      t.same(parts, makeLink(previous, event), nameOf(vector))
      t.equal(event.metadata.hash, parts.link, nameOf(vector))
      previous = parts.link
    }
  }
})

const written = (name: string) =>
  new RegExp(`^\\| ${name} +\\| (?:the text )?\`(.*?)\` +\\|$`, 'm').exec(page)?.[1] ?? ''

t.test('personal data are decrypted with the key on the page', async t => {
  const key = Buffer.from(written('the key'), 'hex')
  const encrypted = vectors.filter(({ event }) => 'personal' in (event.data as object))
  t.same(encrypted.map(({ event }) => event.type).sort(), ['AccountOpened', 'RunStarted'])
  t.same(
    vectors.filter(({ personalText }) => personalText),
    encrypted,
  )
  for (const { event, personalText = '' } of encrypted) {
    const { personal } = event.data as { personal: string }
    const bytes = Buffer.from(personal, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAAD(Buffer.from(event.id, 'ascii')).setAuthTag(bytes.subarray(-16))
    t.equal(`${decipher.update(bytes.subarray(12, -16), undefined, 'utf8')}${decipher.final('utf8')}`, personalText)
  }
})

t.test('the service reads the key, and the data as the page says', async t => {
  const asked: string[] = []
  const get = async (objectKey: string) => {
    asked.push(objectKey)
    return { body: Readable.from([Buffer.from(written('its bytes'), 'hex')]), sizeBytes: 60, etag: '"1"' }
  }
  const objects = async () => ({ get, put: async () => false, overwrite: async () => undefined })
  const masterSecret = written('the master secret')
  const vault = new Vault({ objects, close: async () => undefined, masterSecret, random: systemRandom })
  const own = vectors.filter(({ event }) => event.metadata.format === 4)
  const log = logOf(own.map(({ event }, position) => ({ ...event, position })))
  const read = await collect(decryptedLog(log as EventLog, vault).readAll(BEFORE_FIRST))
  for (const [index, { event, personalText }] of own.entries()) {
    const { personal: _, ...shown } = event.data as { personal?: string }
    t.same(read[index]?.data, { ...shown, ...(personalText && JSON.parse(personalText)) })
    for (const name of Object.keys(JSON.parse(personalText ?? '{}')))
      t.ok(name in (personalFields[event.type as keyof typeof personalFields] ?? {}), `${event.type}.${name}`)
  }
  t.same(asked, [written('the object')])
})

t.test('the page names every personal field, and what stands in its place', async t => {
  const [, section = ''] = /^## Personal data\n(.*?)^## /ms.exec(page) ?? []
  const rows = section.split('\n').filter(line => line.startsWith('|'))
  for (const [type, fields] of Object.entries(personalFields))
    for (const field of Object.keys(fields))
      t.ok(
        rows.some(row => row.split('|')[1]?.includes(`\`${type}\``) && row.split('|')[2]?.includes(`\`${field}\``)),
        `${type}.${field}`,
      )
  for (const place of [PRIVATE, PRIVATE_URL]) t.ok(section.includes(`\`${place}\``), place)
})

t.test('the service makes the same links', async t => {
  for (const stream of streams.values()) {
    let previous: string | undefined
    for (const vector of stream) {
      previous = link(previous, vector.event)
      t.equal(previous, vector.link, nameOf(vector))
    }
  }
})

t.test('the service reads the events, and their amounts add up to the balances on the page', async t => {
  const balances = [...streams.values()].map(stream =>
    stream.reduce((balanceMicros, { event }) => {
      const { type, data } = eventCodec.decode({ ...event, position: BEFORE_FIRST })
      const { amountMicros = 0, balanceAfterMicros } = data as { amountMicros?: number; balanceAfterMicros?: number }
      const after = balanceMicros + amountMicros * (SIGNS[type] ?? 0)
      if (type in SIGNS) t.equal(balanceAfterMicros, after)
      return after
    }, 0),
  )
  const stated = [...page.matchAll(/the balance\s+is\s+([\d,]+)\s+microcredits/g)].map(([, digits = '']) => digits)
  t.same(
    balances,
    stated.map(digits => Number(digits.replaceAll(',', ''))),
  )
})

const SIGNS: Record<string, 1 | -1> = {
  CreditsGranted: 1,
  CreditsWithdrawn: -1,
  CreditsDebited: -1,
  CreditsRefunded: 1,
  CreditsReleased: 1,
}

t.test('each price follows from its receipt, by the steps on the page', async t => {
  const receipts = vectors.flatMap(({ event }) =>
    /^Credits(Debited|Released)$/.test(event.type) ? [(event.data as { receipt: Receipt }).receipt] : [],
  )
  t.equal(receipts.length, streams.size + 2)
  for (const receipt of receipts) t.equal(recomputeMicros(receipt), BigInt(receipt.totalMicros))
})

/** Format 1 has the dollar rate in the lines. */
type AnyLine = Receipt['lines'][number] & { usdPerCreditMicros?: number }

const recomputeMicros = ({ lines, usdPerCreditMicros }: Receipt): bigint => {
  let product = 0n
  let divisor = 1n
  let tokens = 0n
  let surcharges = 0n
  for (const line of lines as AnyLine[]) {
    if (line.kind === 'base') product = BigInt(line.amountMicros)
    else if (line.kind === 'surcharge') {
      const rate = BigInt(line.usdPerCreditMicros ?? usdPerCreditMicros ?? 0)
      surcharges += divideUp(BigInt(line.usdMicros) * 1_000_000n, rate)
    } else if (line.kind === 'tokens') tokens += BigInt(line.count) * BigInt(line.perMillionMicros)
    else {
      product *= BigInt(line.kind === 'quantity' ? Math.round(line.value * 1_000_000) : line.factorMicros)
      divisor *= 1_000_000n
    }
  }
  return divideUp(product * 1_000_000n + tokens * divisor, divisor * 1_000_000n) + surcharges
}

const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor
