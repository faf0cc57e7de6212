import { readFile } from 'node:fs/promises'
import type { ConsistencyProof, InclusionProof, Proof, ProvenSeal, StatementProof } from '../../schemas/proof.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { proveConsistency, proveInclusion } from '../../src/audit/proofs/inclusion.ts'
import { proveStatement } from '../../src/audit/proofs/statement.ts'
import { sha256 } from '../../src/domain/digest.ts'
import type { ReadableLog } from '../../src/ports/event-log.ts'
import { parseSealKey } from '../../src/services/seals/seal-key.ts'
import { type LinkedEvent, makeLink } from './links.ts'
import { logOf } from './log-of.ts'
import { linksRoot, streamsRoot } from './merkle.ts'

/** The secret key of the first example of RFC 8032, section 7.1, in PEM. Everybody knows it. */
const PEM = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
export const vectorKey = parseSealKey(PEM, { isDevelopment: false })

/** The proofs of `docs/verify/examples`, by the names of their files. */
export const vectorProofs = async (): Promise<Record<string, Proof>> => {
  const log = await vectorLog()
  const [first, second, third] = [{ number: 1 }, { number: 2 }, { number: 3 }]
  return {
    inclusion: await proveInclusion(log, { runId: 'run_01m820ba3afvgrrk8mqkecp7h5' }, { at: third }),
    consistency: await proveConsistency(log, first, third),
    statement: await proveStatement(log, vectorAccount, { to: second }),
    'statement-part': await proveStatement(log, vectorAccount, { from: first, to: third }),
    'statement-with-cost': await proveStatement(log, costlyAccount),
    'statement-encrypted': await proveStatement(log, encryptedAccount),
  }
}

/** A proof of an event of format 1 with a `?`, in place of which half of a character stands. It must be refused. */
export const forgedText = async (hashed = '?', shown = '\ud800'): Promise<InclusionProof> => {
  const log = await vectorLog(event =>
    event.stream === `account-${vectorAccount}` && event.revision === 1
      ? { ...event, data: { ...(event.data as object), reason: `welcome${hashed}` } }
      : event,
  )
  const granted = await log.readEvent(`account-${vectorAccount}`, 1)
  const proof = await proveInclusion(log, { eventId: granted?.id as string }, { at: { number: 3 } })
  const linkText = proof.event.linkText.replace(`welcome${hashed}`, `welcome${shown}`)
  return { ...proof, event: { ...proof.event, linkText } }
}

/**
 * The same proofs with another `id` in the event of a seal, and with the link that fits. No signature covers either. The
 * link of an earlier seal is covered by the later one.
 */
export const forgedProofs = async (): Promise<Record<string, Proof>> => {
  const proofs = await vectorProofs()
  const [inclusion, consistency] = [proofs['inclusion'] as InclusionProof, proofs['consistency'] as ConsistencyProof]
  const { from, to, ...statement } = proofs['statement-part'] as StatementProof
  return {
    'forged-inclusion': { ...inclusion, seal: withOtherId(inclusion.seal) },
    'forged-consistency-earlier': { ...consistency, earlier: withOtherId(consistency.earlier) },
    'forged-consistency-later': { ...consistency, later: withOtherId(consistency.later) },
    'forged-statement': { ...statement, ...(from && { from: forgedEnd(from) }), to: forgedEnd(to) },
  }
}

const forgedEnd = (end: StatementProof['to']) => ({ ...end, seal: withOtherId(end.seal) })

const withOtherId = (seal: ProvenSeal): ProvenSeal => {
  const linkText = seal.linkText.replace(/"id":"[^"]+"/, '"id":"f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0"')
  return { ...seal, linkText, link: sha256(seal.previous + linkText) }
}

export const vectorAccount = 'acct_01m820b9ztfvgrrk74p12fwn4g'
/** The account whose stream is in format 4. */
export const encryptedAccount = 'acct_01m820ba0jfvgrrk5x3d9qwz7t'
/** The account whose stream is in format 3. */
export const costlyAccount = 'acct_01m820ba05fvgrrk7mv8y5b8ge'

/**
 * A log with the events of the page and the price lists that its receipts follow, with a seal after each four of them.
 * The events may be changed before they are linked and sealed.
 */
export const vectorLog = async (change: (event: LinkedEvent) => LinkedEvent = event => event): Promise<ReadableLog> => {
  const page = await readFile('docs/ledger-format.md', 'utf8')
  const blocks = [...page.matchAll(/^```json\n(\{\n {2}"event".*?)\n```$/gms)]
  const events = blocks.map(([, json = '']): LinkedEvent => JSON.parse(json).event)
  const log = new SealedLog()
  log.append(catalogEvent, 'FamilyPublished')
  log.adoptKey()
  for (const [index, event] of events.entries()) {
    if (event.id === FIRST_OF_TEXT) log.append(textEvent, 'FamilyPublished')
    log.take(change(event))
    if (index % 4 === 3 || index === events.length - 1) log.seal()
  }
  return logOf(log.events)
}

/** The debit of the page's run of a text model. */
const FIRST_OF_TEXT = '1b2d54f0-6061-4728-93a4-152637485960'

/** The price list that this debit follows. */
const textEvent = {
  family: {
    ...{ id: 'gemini-3-flash', aliases: [], name: 'Gemini 3 Flash', outputType: 'text' },
    endpoints: [
      {
        ...{ id: 'gemini-3-flash-t2t', kind: 't2t', mode: 'sync', status: 'public' },
        ...{ description: 'Answers in text.', timeoutMs: 120_000 },
        parametersSchema: {
          type: 'object',
          properties: {
            messages: { type: 'array' },
            max_output_tokens: { type: 'integer' },
            seed: { type: 'integer' },
          },
          additionalProperties: false,
        },
        pricing: {
          ...{ baseMicros: 0, quantities: [], multipliers: {} },
          tokens: { input: 60_000_001, cached_input: 6_000_000, output: 360_000_000, thinking: 360_000_000 },
          surcharges: [],
        },
      },
    ],
  },
}

/** The price list that the receipts of the page's pictures follow. */
const catalogEvent = {
  family: {
    id: 'nano-banana-2',
    aliases: [],
    name: 'Nano Banana 2',
    outputType: 'image',
    endpoints: [
      {
        ...{ id: 'nano-banana-2-t2i', kind: 't2i', mode: 'async', status: 'public', provider: 'sandbox' },
        ...{ description: 'Paints a picture.', timeoutMs: 120_000 },
        parametersSchema: {
          type: 'object',
          properties: {
            prompt: { type: 'string' },
            num_images: { type: 'integer' },
            resolution: { type: 'string' },
            enable_web_search: { type: 'boolean' },
          },
          additionalProperties: false,
        },
        pricing: {
          baseMicros: 10_000_000,
          quantities: ['num_images'],
          multipliers: { resolution: { '1K': 1_000_000, '2K': 1_500_000 } },
          surcharges: [{ when: { parameter: 'enable_web_search', equals: true }, usdMicros: 15_000 }],
        },
      },
    ],
  },
}

/** A log that is sealed by the page alone, without the code that seals. */
class SealedLog {
  readonly events: RawEvent[] = []
  readonly #sealLinks: string[] = []

  take(event: LinkedEvent) {
    const hash = makeLink(this.#of(event.stream).at(-1), event).link
    const metadata = { ...(event.metadata as object), hash }
    this.events.push({ ...event, metadata, position: this.events.length })
    if (event.stream === 'seals') this.#sealLinks.push(hash)
  }

  append(data: object, type: string, stream = 'catalog') {
    const revision = this.#of(stream).length
    const id = `00000000-0000-4000-8000-${String(this.events.length).padStart(12, '0')}`
    const metadata = { format: 2, at: '2026-11-22T16:10:00.000Z', actor: { kind: 'service' } }
    this.take({ stream, revision, id, type, data, metadata })
  }

  adoptKey() {
    const unsigned = { key: vectorKey.publicKey, keyId: vectorKey.keyId }
    this.append({ ...unsigned, signature: vectorKey.sign(unsigned) }, 'SealKeyAdopted', 'seals')
  }

  seal() {
    const covered = this.events.filter(({ stream }) => stream !== 'seals')
    const streams = [...new Set(covered.map(({ stream }) => stream))].map(stream => {
      const links = this.#of(stream)
      return { stream, revision: links.length - 1, head: links.at(-1) as string, links: linksRoot(links) }
    })
    const unsigned = {
      ...{ number: this.#sealLinks.length, events: covered.length, streams: streams.length },
      ...{ position: covered.at(-1)?.position, root: streamsRoot(streams), earlier: linksRoot(this.#sealLinks) },
      ...{ previous: this.#sealLinks.at(-1), at: '2026-11-22T16:20:00.000Z', keyId: vectorKey.keyId },
    }
    this.append({ ...unsigned, signature: vectorKey.sign(unsigned) }, 'LogSealed', 'seals')
  }

  #of(stream: string): string[] {
    const own = this.events.filter(event => event.stream === stream)
    return own.map(({ metadata }) => (metadata as { hash: string }).hash)
  }
}
