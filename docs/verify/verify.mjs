#!/usr/bin/env node
// @ts-check
/**
 * Checks a proof of Tollgate without the service and its log. It needs Node.js 20 or newer, and nothing else.
 *
 *     node verify.mjs PROOF --key KEYS [--seal NUMBER:LINK]
 *
 * KEYS are the public keys of the seals: PEM, a JSON Web Key, or a set of them. The seal is one that you kept. The exit
 * code is 0 if the proof is right, 1 if it is wrong, and 2 if it could not be checked. The format is described in
 * docs/ledger-format.md, "Proofs". Types stand in comments, because Node.js 20 cannot run TypeScript.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** @typedef {{ linkText: string, dataText?: string, metadataText?: string }} Texts */
/** @typedef {Texts & { revision: number, previous: string, path: string[] }} ProvenEvent */
/** @typedef {{ stream: string, revision: number, head: string, links: string }} Stream */
/** @typedef {Stream & { path: { bit: number, sibling: string }[] }} Leaf */
/** @typedef {{ previous: string, linkText: string, dataText: string, metadataText: string, link: string }} ProvenSeal */
/** @typedef {{ number: number, events: number, at: string, root: string, earlier: string, link: string }} Seal */
/** @typedef {{ format: 1 | 2, type: string, data: any }} Event */
/** @typedef {Map<string, string>} Keys The bytes of each key in base64url, by its thumbprint. */
/** @typedef {{ seals: Seal[], lines: string[] }} Shown */

/** The proof does not prove what it claims. */
export class Wrong extends Error {}

/** @type {(condition: unknown, what: string) => asserts condition} */
const hold = (condition, what) => {
  if (!condition) throw new Wrong(what)
}

const sha256 = (/** @type {(string | Uint8Array)[]} */ ...parts) => {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}
const hashOf = (/** @type {string} */ text) => sha256(text).toString('hex')
const bytesOf = (/** @type {string} */ hex) => Buffer.from(hex, 'hex')

// ---- Keys and signatures ----

/** Reads Ed25519 public keys. @type {(text: string) => Keys} */
export const parseKeys = text => {
  const found = text.includes('-----BEGIN') ? keysInPem(text) : keysInJson(text)
  return new Map(found.filter(isKey).map(x => [thumbprintOf(x), x]))
}

const keysInPem = (/** @type {string} */ text) =>
  [...text.matchAll(/-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----/g)]
    .map(([, content = '']) => Buffer.from(content, 'base64'))
    .filter(der => der.toString('hex').startsWith('302a300506032b6570032100') && der.length === 44)
    .map(der => der.subarray(12).toString('base64url'))

const keysInJson = (/** @type {string} */ text) => {
  const document = parse(text)
  const keys = Array.isArray(document?.keys) ? document.keys : [document]
  return keys
    .filter(isObject)
    .filter((/** @type {any} */ { kty, crv }) => kty === 'OKP' && crv === 'Ed25519')
    .map((/** @type {any} */ { x }) => String(x))
}

const isKey = (/** @type {string} */ x) => {
  const bytes = Buffer.from(x, 'base64url')
  return bytes.length === 32 && bytes.toString('base64url') === x
}

const thumbprintOf = (/** @type {string} */ x) =>
  sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).toString('base64url')

/** The order of the field, and the coordinates y of the points whose order divides 8. */
const P = 2n ** 255n - 19n
const Y8 = 2707385501144840649318225287225658788936804267575313519463743609750303021036n
const SMALL_ORDER = [0n, 1n, P - 1n, Y8, P - Y8]

/** Keys of small order are refused, because anybody can sign for them. @type {(x: string) => boolean} */
const isSafe = x => {
  const y = BigInt(`0x${Buffer.from(x, 'base64url').reverse().toString('hex')}`) % 2n ** 255n
  return y < P && !SMALL_ORDER.includes(y)
}

/** Whether an Ed25519 signature (RFC 8032) is right. @type {(text: string, signature: string, x: string) => boolean} */
export const isSigned = (text, signature, x) => {
  const bytes = Buffer.from(signature, 'base64url')
  if (bytes.toString('base64url') !== signature || bytes.length !== 64 || !isSafe(x)) return false
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.from(text), key, bytes)
  } catch {
    return false
  }
}

// ---- Trees ----

const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

/**
 * Whether a path leads from a link to the root over `size` links (RFC 9162, section 2.1.3.2).
 * @type {(link: string, index: number, size: number, path: string[], root: string) => boolean}
 */
const isIncluded = (link, index, size, path, root) => {
  if (index >= size) return false
  let [at, last, found] = [index, size - 1, sha256(LEAF, bytesOf(link))]
  for (const step of path.map(bytesOf)) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      found = sha256(NODE, step, found)
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1]
    } else found = sha256(NODE, found, step)
    ;[at, last] = [at >> 1, last >> 1]
  }
  return last === 0 && found.toString('hex') === root
}

/**
 * Whether a path shows that a tree extends an earlier, smaller one (RFC 9162, section 2.1.4.2).
 * @type {(size: number, root: string, laterSize: number, laterRoot: string, path: string[]) => boolean}
 */
const isExtension = (size, root, laterSize, laterRoot, path) => {
  let [at, last] = [size - 1, laterSize - 1]
  while (at % 2 === 1) [at, last] = [at >> 1, last >> 1]
  const [first, ...steps] = (at === 0 ? [root, ...path] : path).map(bytesOf)
  if (!first) return false
  let [earlier, later] = [first, first]
  for (const step of steps) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      ;[earlier, later] = [sha256(NODE, step, earlier), sha256(NODE, step, later)]
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1]
    } else later = sha256(NODE, later, step)
    ;[at, last] = [at >> 1, last >> 1]
  }
  return last === 0 && earlier.toString('hex') === root && later.toString('hex') === laterRoot
}

/** The tree over links, of which only the complete parts are kept, each with its size. */
class Links {
  /** @param {number} size @param {string[]} roots */
  constructor(size, roots) {
    const digits = [...size.toString(2)]
    const sizes = digits.flatMap((digit, at) => (digit === '1' ? [2 ** (digits.length - 1 - at)] : []))
    hold(sizes.length === roots.length, 'the statement begins at the wrong event')
    this.size = size
    this.parts = roots.map((root, index) => ({ size: sizes[index] ?? 0, root: bytesOf(root) }))
  }

  /** @param {string} link */
  add(link) {
    let part = { size: 1, root: sha256(LEAF, bytesOf(link)) }
    for (let last = this.parts.at(-1); last?.size === part.size; last = this.parts.at(-1)) {
      part = { size: 2 * part.size, root: sha256(NODE, last.root, part.root) }
      this.parts.pop()
    }
    this.parts.push(part)
    this.size += 1
  }

  root() {
    const roots = this.parts.map(({ root }) => root)
    return roots.reduceRight((right, left) => sha256(NODE, left, right)).toString('hex')
  }
}

/**
 * Checks the path of a stream in the prefix tree over all streams. A branch covers its bit and all bits above it.
 * @type {(leaf: Leaf, seal: Seal) => void}
 */
const checkLeaf = ({ stream, revision, head, links, path }, seal) => {
  let found = sha256(LEAF, JSON.stringify({ head, links, revision, stream }))
  const key = [...sha256(stream)].map(octet => octet.toString(2).padStart(8, '0')).join('')
  let [above, fits] = [256, true]
  for (const { bit, sibling } of path) {
    ;[fits, above] = [fits && bit < above, bit]
    const octets = key.slice(0, bit).padEnd(256, '0').match(/.{8}/g) ?? []
    const prefix = Buffer.from(octets.map(octet => Number.parseInt(octet, 2)))
    const pair = key[bit] === '1' ? [bytesOf(sibling), found] : [found, bytesOf(sibling)]
    found = sha256(NODE, Buffer.from([bit]), prefix, ...pair)
  }
  const isSealed = fits && found.toString('hex') === seal.root
  hold(isSealed, `seal ${seal.number} does not cover ${stream} as its leaf says`)
}

// ---- Events and seals ----

const HASH = '[0-9a-f]{64}'
const COUNT = '0|[1-9][0-9]{0,15}'
const LINK_TEXT = new RegExp(
  `^\\{"data":"(${HASH})","format":2,"id":"[0-9a-f-]{36}","metadata":"(${HASH})",` +
    '"revision":([0-9]+),"stream":"([a-z0-9_-]+)","type":"([A-Za-z]+)"\\}$',
)
const SEAL = new RegExp(
  '^\\{"at":"(?<at>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z)",' +
    `"earlier":"(?<earlier>${HASH})","events":(?<events>${COUNT}),"keyId":"(?<keyId>[A-Za-z0-9_-]{43})",` +
    `"number":(?<number>${COUNT}),"position":(?:${COUNT}),"previous":"(?<previous>${HASH})",` +
    `"root":"(?<root>${HASH})","signature":"(?<signature>[A-Za-z0-9_-]{86})","streams":(?:${COUNT})\\}$`,
)

/**
 * The value of a JSON text; undefined if it is none.
 * @type {(text: string, revive?: (name: string, value: any) => any) => any}
 */
const parse = (text, revive) => {
  try {
    return JSON.parse(text, revive)
  } catch {
    return undefined
  }
}

const isObject = (/** @type {any} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The canonical form has no negative zero. @type {(name: string, value: any) => any} */
const withoutSign = (_name, value) => {
  if (Object.is(value, -0)) throw new Wrong('-0 is not canonical')
  return value
}

/** A text in which a name comes twice could be read in two ways. @type {(text: string, revision: number) => any} */
const readData = (text, revision) => {
  const data = parse(text, withoutSign)
  const isCanonical = isObject(data) && JSON.stringify(data).length === text.length
  hold(isCanonical, `event ${revision} is not in the documented form`)
  return data
}

/** The link of an event. @type {(previous: string, texts: { linkText: string }) => string} */
const linkOf = (previous, { linkText }) => hashOf(previous + linkText)

/** The only type of events of which a proof may hold the digest alone: what a provider charges. It moves no credits. */
const WITHHELD = 'ProviderCostRecorded'

/**
 * An event whose link was proved, from the texts that the link is made of.
 * @type {(texts: Texts, stream: string, revision: number) => Event}
 */
export const readEvent = ({ linkText, dataText, metadataText }, stream, revision) => {
  if (dataText === undefined && metadataText === undefined) {
    const { type, data, metadata, ...others } = readData(linkText, revision)
    const isEvent = typeof type === 'string' && /^[A-Za-z]+$/.test(type) && isObject(data) && isObject(metadata)
    const isClosed = isEvent && metadata.format === undefined && Object.keys(others).length === 0
    hold(isClosed, `event ${revision} is not in the documented form`)
    return { format: 1, type, data }
  }
  const [, data, metadata, number, name, type = ''] = LINK_TEXT.exec(linkText) ?? []
  const isWithheld = dataText === undefined && type === WITHHELD
  const areRight = (isWithheld || data === hashOf(dataText ?? '')) && metadata === hashOf(metadataText ?? '')
  const isWhole = areRight && number === String(revision) && name === stream
  hold(isWhole, `the texts of event ${revision} of ${stream} do not belong together`)
  return { format: 2, type, data: isWithheld ? {} : readData(dataText ?? '', revision) }
}

/** An event, and its place in the tree of its stream. @type {(event: ProvenEvent, leaf: Leaf) => Event} */
const checkEvent = (proven, leaf) => {
  const { revision, previous, path } = proven
  const isInTree = isIncluded(linkOf(previous, proven), revision, leaf.revision + 1, path, leaf.links)
  hold(isInTree, `event ${revision} is not in the tree of ${leaf.stream}`)
  return readEvent(proven, leaf.stream, revision)
}

/** A seal that is signed with one of the keys. @type {(proven: ProvenSeal, keys: Keys) => Seal} */
const checkSeal = (proven, keys) => {
  const found = SEAL.exec(proven.dataText)?.groups
  hold(found && Number(found.number) < 2 ** 31, 'a seal is not in the documented form')
  const { at = '', earlier = '', keyId = '', previous, root = '', signature = '' } = found
  const [number, events, link] = [Number(found.number), Number(found.events), proven.link]
  hold(linkOf(proven.previous, proven) === link, `the link of seal ${number} is not that of its texts`)
  const event = readEvent(proven, 'seals', number)
  const isSeal = event.type === 'LogSealed' && previous === proven.previous
  hold(isSeal, `seal ${number} is not in the documented form`)
  const key = keys.get(keyId)
  hold(key !== undefined, `seal ${number} is signed with the key ${keyId}, which was not given`)
  const signed = proven.dataText.replace(`"signature":"${signature}",`, '')
  hold(isSigned(signed, signature, key), `the signature of seal ${number} is wrong`)
  return { number, events, at, root, earlier, link }
}

// ---- Prices: docs/ledger-format.md, "Recomputing a price" ----

const MILLION = 1_000_000n

const dividedUp = (/** @type {bigint} */ dividend, /** @type {bigint} */ divisor) => (dividend + divisor - 1n) / divisor

/** What is wrong with a receipt; undefined if it adds up. @type {(receipt: any) => string | undefined} */
const receiptFault = ({ lines, totalMicros, usdPerCreditMicros }) => {
  const [base, ...others] = lines
  const isBase = (/** @type {any} */ { kind }) => kind === 'base'
  if (!base || !isBase(base) || others.some(isBase)) return 'its receipt has not one base price'
  const surcharges = others.filter((/** @type {any} */ { kind }) => kind === 'surcharge')
  const rate = usdPerCreditMicros ?? surcharges[0]?.usdPerCreditMicros
  let [product, divisor, added] = [BigInt(base.amountMicros), 1n, 0n]
  for (const { kind, value, factorMicros } of others) {
    if (kind === 'surcharge') continue
    product *= BigInt(kind === 'quantity' ? Math.round(value * 1_000_000) : factorMicros)
    divisor *= MILLION
  }
  for (const { parameter, usdMicros, amountMicros } of surcharges) {
    if (!rate) return 'its receipt has a surcharge and no exchange rate'
    const amount = dividedUp(BigInt(usdMicros) * MILLION, BigInt(rate))
    if (BigInt(amountMicros) !== amount) return `its surcharge for ${parameter} is ${amountMicros}, not ${amount}`
    added += amount
  }
  const total = dividedUp(product, divisor) + added
  return total === BigInt(totalMicros) ? undefined : `its price is ${totalMicros}, and its receipt adds up to ${total}`
}

/** What is wrong with a receipt by a price rule. @type {(receipt: any, rule: any, input: any) => string | undefined} */
const ruleFault = ({ lines }, { baseMicros, quantities, multipliers, surcharges }, input) => {
  const expected = [`base ${baseMicros}`]
  for (const name of quantities) if (typeof input[name] === 'number') expected.push(`quantity ${name} ${input[name]}`)
  for (const [name, factors] of Object.entries(multipliers)) {
    if (!Object.hasOwn(input, name)) continue
    const value = String(input[name])
    expected.push(`multiplier ${name} ${value} ${Object.hasOwn(factors, value) ? factors[value] : 'none'}`)
  }
  for (const { when, usdMicros } of surcharges)
    if (input[when.parameter] === when.equals)
      expected.push(`surcharge ${when.parameter} ${JSON.stringify(when.equals)} ${usdMicros}`)
  const found = lines.map((/** @type {any} */ line) => describe(line, input))
  const strange = found.find((/** @type {string} */ line) => !expected.includes(line))
  if (strange !== undefined) return `its receipt has the line "${strange}", which the price list does not give`
  const missing = expected.find(line => !found.includes(line))
  if (missing !== undefined) return `its receipt lacks the line "${missing}" of the price list`
  return found.length === expected.length ? undefined : 'its receipt has a line twice'
}

const describe = (/** @type {any} */ line, /** @type {any} */ input) => {
  const { kind, parameter, value, amountMicros, factorMicros, usdMicros } = line
  if (kind === 'base') return `base ${amountMicros}`
  if (kind === 'quantity') return `quantity ${parameter} ${value}`
  if (kind === 'multiplier') return `multiplier ${parameter} ${value} ${factorMicros}`
  // In format 1, a surcharge does not say which value it is for: it is that of the input.
  const { equals = input[parameter] } = line
  return `surcharge ${parameter} ${JSON.stringify(equals)} ${usdMicros}`
}

/**
 * The price rule that a receipt names, or what is wrong with the name.
 * @type {(receipt: any, catalog: Map<number, any>) => any}
 */
const publishedRule = ({ catalogRevision, model, endpoint }, catalog) => {
  const family = catalog.get(catalogRevision)
  if (!family) return `its receipt names catalog revision ${catalogRevision}, which publishes no prices`
  if (family.id !== model) return `catalog revision ${catalogRevision} publishes ${family.id}, not ${model}`
  const found = family.endpoints.find((/** @type {any} */ { id }) => id === endpoint)
  return found?.pricing ?? `catalog revision ${catalogRevision} has no endpoint ${endpoint}`
}

// ---- The three kinds of proofs ----

/** @type {(proof: any, keys: Keys) => Shown} */
const checkInclusion = ({ event, leaf, seal: proven }, keys) => {
  const seal = checkSeal(proven, keys)
  checkLeaf(leaf, seal)
  const { revision } = event
  const { type, data } = checkEvent(event, leaf)
  const right = `right: ${type}, event ${revision} of ${leaf.stream}, is sealed`
  return { seals: [seal], lines: [right, ...moves(revision, type, data)] }
}

/** @type {Readonly<Record<string, string>>} */
const VERBS = {
  CreditsGranted: 'granted',
  CreditsWithdrawn: 'withdrawn',
  CreditsDebited: 'debited',
  CreditsRefunded: 'refunded',
}

const isRun = (/** @type {unknown} */ value) => typeof value === 'string' && /^run_[0-9a-z]{26}$/.test(value)

/**
 * What an event did to the credits of its account, as the event says: one line, or none.
 * @type {(revision: number, type: string, data: any) => string[]}
 */
const moves = (revision, type, { amountMicros, balanceAfterMicros, runId }) => {
  if (!Object.hasOwn(VERBS, type)) return []
  const isTold = isAmount(amountMicros) && isAmount(balanceAfterMicros) && (runId === undefined || isRun(runId))
  hold(isTold, `event ${revision} is not in the documented form`)
  const run = runId === undefined ? '' : ` for ${runId}`
  return [`credits: ${credits(amountMicros)} ${VERBS[type]}${run}, ${credits(balanceAfterMicros)} after`]
}

/** @type {(proof: any, keys: Keys) => Shown} */
const checkConsistency = (proof, keys) => {
  const [earlier, later] = [checkSeal(proof.earlier, keys), checkSeal(proof.later, keys)]
  const [first, last] = [earlier.number, later.number]
  hold(first < last && earlier.events <= later.events, 'the seals are in the wrong order')
  const isCovered = isIncluded(earlier.link, first, last, proof.inclusion, later.earlier)
  hold(isCovered, `seal ${last} does not cover seal ${first}`)
  const isExtended = isExtension(first, earlier.earlier, last, later.earlier, proof.consistency)
  hold(isExtended, `seal ${last} does not extend what came before seal ${first}`)
  return { seals: [earlier, later], lines: [`right: seal ${last} extends seal ${first}`] }
}

/** @type {(proof: any, keys: Keys) => Shown} */
const checkStatement = (proof, keys) => {
  const { from, to, catalog } = proof
  const parts = from ? [from, to] : [to]
  const seals = parts.map(({ seal }) => checkSeal(seal, keys))
  hold(!seals[1] || Number(seals[0]?.number) < seals[1].number, 'the seals are in the wrong order')
  for (const [index, { leaf }] of parts.entries()) checkLeaf(leaf, /** @type {Seal} */ (seals[index]))
  const { stream } = to.leaf
  const isOne = stream.startsWith('account-') && (!from || from.leaf.stream === stream)
  hold(isOne, 'the statement is not about one account')
  checkLinks(proof)
  const families = new Map()
  if (catalog) {
    checkLeaf(catalog.leaf, /** @type {Seal} */ (seals.at(-1)))
    hold(catalog.leaf.stream === 'catalog', 'the prices are not those of the catalog')
    for (const each of catalog.events) families.set(each.revision, checkEvent(each, catalog.leaf).data.family)
  }
  const { opening, closing, prices } = checkEvents(proof, families)
  const events = to.leaf.revision - (from?.leaf.revision ?? -1)
  const where = from ? 'between the seals' : 'up to the seal'
  return {
    seals,
    lines: [
      `right: ${stream.slice('account-'.length)} has ${events} events ${where}, all here`,
      `balance: ${credits(opening)} credits before, ${credits(closing)} credits after`,
      `prices: ${prices} recomputed`,
    ],
  }
}

const credits = (/** @type {number} */ micros) => {
  const digits = String(micros).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/** @type {Readonly<Record<string, number>>} */
const SIGNS = { CreditsGranted: 1, CreditsWithdrawn: -1, CreditsDebited: -1, CreditsRefunded: 1 }

/** Follows the links and the tree over them, so that the events are known to be all there. @type {(proof: any) => void} */
const checkLinks = ({ from, to, start, events }) => {
  const isWhole = start.revision === 0 || start.revision <= (from?.leaf.revision ?? -1)
  hold(isWhole, 'the statement begins at the wrong event')
  const links = new Links(start.revision, start.tree)
  let previous = start.previous
  for (const texts of events) {
    previous = linkOf(previous, texts)
    links.add(previous)
    if (links.size - 1 === from?.leaf.revision)
      hold(isEnd(from.leaf, links, previous), 'the events are not those that the earlier seal covers')
  }
  hold(isEnd(to.leaf, links, previous), 'the events are not those that the seal covers')
}

/**
 * Follows the balance from event to event, and recomputes each price.
 * @type {(proof: any, catalog: Map<number, any>) => { opening: number, closing: number, prices: number }}
 */
const checkEvents = ({ from, to, start, events }, catalog) => {
  const { stream } = to.leaf
  let [format, debit, prices, opening] = [1, /** @type {any} */ (undefined), 0, 0]
  /** @type {number | undefined} */
  let balance = start.revision === 0 ? 0 : undefined
  for (const [index, texts] of events.entries()) {
    const revision = start.revision + index
    const event = readEvent(texts, stream, revision)
    const { type, data } = event
    hold(event.format >= format, `the format of event ${revision} is lower than that of the event before it`)
    if (revision === 0) {
      const genesis = event.format === 1 ? '0'.repeat(64) : hashOf(`{"format":2,"stream":"${stream}"}`)
      hold(start.previous === genesis && type === 'AccountOpened', 'the statement begins at the wrong event')
      hold(`account-${data.accountId}` === stream, 'the first event opens another account')
    }
    format = event.format
    if (Object.hasOwn(SIGNS, type)) balance = balanceAfter(revision, event, balance)
    hold(balance !== undefined, 'the statement begins at the wrong event')
    if (debit) {
      const isNext = type === 'RunQueued' && data.runId === debit.runId
      hold(isNext, `event ${revision} is not the run of the debit before it`)
      checkPrice(revision, debit.receipt, data, catalog)
      debit = undefined
      prices += 1
    }
    if (type === 'CreditsDebited') {
      debit = data
      const isSame = data.receipt.totalMicros === data.amountMicros
      hold(isSame, `event ${revision} debits another amount than its receipt`)
      const fault = receiptFault(data.receipt)
      hold(fault === undefined, `event ${revision}: ${fault}`)
    }
    if (revision === from?.leaf.revision) opening = balance
  }
  return { opening, closing: balance ?? 0, prices }
}

/** @type {(leaf: Leaf, links: Links, head: string) => boolean} */
const isEnd = (leaf, links, head) =>
  links.size === leaf.revision + 1 && links.root() === leaf.links && head === leaf.head

/**
 * The balance after an event. Where it is not known before, the event must tell it.
 * @type {(revision: number, event: Event, before: number | undefined) => number}
 */
const balanceAfter = (revision, { type, data: { amountMicros: amount, balanceAfterMicros: after } }, before) => {
  const sign = SIGNS[type] ?? 0
  hold(isAmount(amount) && isAmount(after), `event ${revision} is not in the documented form`)
  const sum = `${before} ${sign < 0 ? '-' : '+'} ${amount}`
  const isRight = before === undefined || before + sign * amount === after
  hold(isRight, `the balance after event ${revision} is ${after}, and ${sum} is not`)
  return after
}

const isAmount = (/** @type {unknown} */ value) => Number.isSafeInteger(value) && Number(value) >= 0

/** @type {(revision: number, receipt: any, queued: any, catalog: Map<number, any>) => void} */
const checkPrice = (revision, receipt, { model, endpoint, input }, catalog) => {
  const isOfRun = receipt.model === model && receipt.endpoint === endpoint
  hold(isOfRun, `event ${revision} runs another model than the receipt before it`)
  const rule = publishedRule(receipt, catalog)
  const fault = typeof rule === 'string' ? rule : ruleFault(receipt, rule, input)
  hold(fault === undefined, `event ${revision - 1}: ${fault}`)
}

// ---- The shape of the document ----

/** @typedef {(value: any) => boolean} Shape */

const isText = (/** @type {any} */ value) => typeof value === 'string'
const isHash = (/** @type {any} */ value) => isText(value) && /^[0-9a-f]{64}$/.test(value)
/** @type {(below: number) => Shape} */
const isWhole = below => value => Number.isInteger(value) && value >= 0 && value < below
/** @type {(of: Shape) => Shape} */
const isList = of => value => Array.isArray(value) && value.every(of)
/** An object with these members, perhaps the optional ones, and no others. */
const isShape =
  (/** @type {Record<string, Shape>} */ needed, /** @type {Record<string, Shape>} */ optional = {}) =>
  (/** @type {any} */ value) =>
    isObject(value) &&
    Object.keys(needed).every(name => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, each]) => {
      const shapes = Object.hasOwn(needed, name) ? needed : optional
      return Object.hasOwn(shapes, name) && shapes[name]?.(each)
    })

const revision = isWhole(2 ** 31 - 1)
const digests = { dataText: isText, metadataText: isText }
const eventShape = isShape({ revision, previous: isHash, linkText: isText, path: isList(isHash) }, digests)
const leafShape = isShape({
  stream: value => isText(value) && /^[a-z]+(-[a-z0-9_]+)?$/.test(value),
  ...{ revision, head: isHash, links: isHash },
  path: isList(isShape({ bit: isWhole(256), sibling: isHash })),
})
const sealShape = isShape({ previous: isHash, linkText: isText, ...digests, link: isHash })
const accountShape = isShape({ seal: sealShape, leaf: leafShape })
const startShape = isShape({ revision, previous: isHash, tree: isList(isHash) })
const textsShape = isShape({ linkText: isText }, digests)
const head = {
  format: (/** @type {any} */ value) => value === 'tollgate-proof',
  version: (/** @type {any} */ value) => value === 1,
  kind: isText,
}
/** @typedef {{ isFit: Shape, run: (proof: any, keys: Keys) => Shown }} Kind */
/** @type {Record<string, Kind>} */
const KINDS = {
  inclusion: { run: checkInclusion, isFit: isShape({ ...head, event: eventShape, leaf: leafShape, seal: sealShape }) },
  consistency: {
    run: checkConsistency,
    isFit: isShape({
      ...{ ...head, earlier: sealShape, later: sealShape },
      ...{ inclusion: isList(isHash), consistency: isList(isHash) },
    }),
  },
  statement: {
    run: checkStatement,
    isFit: isShape(
      {
        ...{ ...head, to: accountShape, start: startShape },
        events: value => isList(textsShape)(value) && value.length > 0,
      },
      { from: accountShape, catalog: isShape({ leaf: leafShape, events: isList(eventShape) }) },
    ),
  },
}

/** What a proof shows, as lines. Throws Wrong. @type {(text: string, keys: Keys, kept?: string) => string[]} */
export const check = (text, keys, kept) => {
  const proof = parse(text)
  const kind = Object.hasOwn(KINDS, proof?.kind) ? KINDS[proof.kind] : undefined
  hold(kind?.isFit(proof), 'it is no tollgate-proof of version 1 in the documented form')
  const { seals, lines } = attempt(() => /** @type {Kind} */ (kind).run(proof, keys))
  const names = seals.map(({ number, link }) => `${number}:${link}`)
  const hint = seals.some(({ number }) => kept?.startsWith(`${number}:`)) ? '' : CONSISTENCY
  const isKept = kept === undefined || names.includes(kept)
  hold(isKept, `it is about seal ${names.at(-1)}, and not about seal ${kept}, which was kept${hint}`)
  return [...lines, ...seals.map(({ at }, index) => `seal ${names[index]} of ${at}`)]
}

const CONSISTENCY = '; a proof of consistency from the earlier to the later one shows whether both are of one log'

/** The owner of the log may have put anything into an event. @type {(run: () => Shown) => Shown} */
const attempt = run => {
  try {
    return run()
  } catch (error) {
    throw error instanceof Wrong ? error : new Wrong('an event is not in the documented form')
  }
}

const noKey = (/** @type {string} */ path, /** @type {string} */ text) =>
  text.includes('PRIVATE KEY')
    ? `${path} has a private key, and no public one: "openssl pkey -in ${path} -pubout" prints its public key.`
    : `${path} has no Ed25519 public key.`

const main = () => {
  const options = { key: { type: /** @type {const} */ ('string') }, seal: { type: /** @type {const} */ ('string') } }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0 || values.key === undefined)
    throw new Error('Usage: node verify.mjs PROOF --key KEYS [--seal NUMBER:LINK]')
  if (values.seal !== undefined && !/^(0|[1-9][0-9]{0,14}):[0-9a-f]{64}$/.test(values.seal))
    throw new Error('--seal must be a seal such as 12:6cdf…, with 64 hexadecimal digits.')
  const keyText = readFileSync(values.key, 'utf8')
  const keys = parseKeys(keyText)
  if (keys.size === 0) throw new Error(noKey(values.key, keyText))
  const text = readFileSync(path, 'utf8')
  try {
    const lines = check(text, keys, values.seal)
    const advice = values.seal ? [] : ['Compare a seal with one that you kept: give it as --seal.']
    console.log([...lines, ...advice].join('\n'))
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    console.log(`wrong: ${error.message.replaceAll(/[^ -~]/g, '?')}`)
    process.exitCode = 1
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  try {
    main()
  } catch (error) {
    console.error(/** @type {Error} */ (error).message)
    process.exitCode = 2
  }
