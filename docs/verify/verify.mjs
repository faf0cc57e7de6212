#!/usr/bin/env node
// @ts-check
/**
 * Checks a proof of Tollgate without the service or its log. The program needs only Node.js 20 or newer.
 *
 *     node verify.mjs PROOF --key KEYS [--seal SEAL]
 *
 * KEYS are the public keys of the seals: PEM, a JSON Web Key, or a set of them. SEAL is the name of a kept seal. The
 * exit code is 0 if the proof is right, 1 if it is wrong, and 2 if the check failed. The section "Proofs" of
 * docs/ledger-format.md describes the format. Types are in comments, because Node.js 20 cannot run TypeScript.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** @typedef {{ linkText: string, dataText?: string, metadataText?: string }} Texts */
/** @typedef {Texts & { revision: number, previous: string, path: string[] }} ProvenEvent */
/** @typedef {{ stream: string, revision: number, head: string, links: string }} Place */
/** @typedef {Place & { path: { bit: number, sibling: string }[] }} Leaf */
/** @typedef {{ number: number, events: string, at: string, root: string, earlier: string, name: string, link: string }} Seal */
/** @typedef {{ format: number, type: string, data: any }} Event */
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

// ---- Shapes ----

const HASH = '[0-9a-f]{64}'
/** A surrogate without its pair is no text, because UTF-8 cannot encode it. @type {(value: any) => boolean} */
const isText = value => typeof value === 'string' && !/\p{Cs}/u.test(value)
const isNumber = (/** @type {any} */ value) => typeof value === 'number'
const isObject = (/** @type {any} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value)
/** @type {(pattern: string) => (value: any) => boolean} */
const isLike = pattern => value => isText(value) && new RegExp(`^(?:${pattern})$`).test(value)
/** @type {(limit: number) => (value: any) => boolean} */
const isBelow = limit => value => Number.isInteger(value) && value >= 0 && value < limit
/** @type {(pattern: string, value: any) => boolean} */
const isLikeOrAbsent = (pattern, value) => value === undefined || isLike(pattern)(value)
const isHash = isLike(HASH)
const isAmount = isBelow(2 ** 53)

/**
 * Whether a value has a shape: a check, a list of a shape, or the members of an object, optional with a `_`.
 * @type {(value: any, shape: any) => boolean}
 */
const fits = (value, shape) => {
  if (typeof shape === 'function') return shape(value)
  if (Array.isArray(shape)) return Array.isArray(value) && value.every(each => fits(each, shape[0]))
  const shapes = new Map(Object.entries(shape).map(([name, each]) => [name.replace(/_$/, ''), each]))
  const hasAll = Object.keys(shape).every(name => name.endsWith('_') || Object.hasOwn(value ?? {}, name))
  return (
    isObject(value) &&
    hasAll &&
    Object.keys(value).every(name => shapes.has(name) && fits(value[name], shapes.get(name)))
  )
}

/** The result of a function; undefined if it throws. @type {(run: () => any) => any} */
const attempt = run => {
  try {
    return run()
  } catch {
    return undefined
  }
}

// ---- Keys and signatures ----

const keyOf = (/** @type {any} */ jwk) => (jwk?.kty === 'OKP' && jwk.crv === 'Ed25519' ? String(jwk.x) : '')

/** Reads Ed25519 public keys, in base64url, by their thumbprints (RFC 7638). @type {(text: string) => Keys} */
export const parseKeys = text => {
  const pem = text.matchAll(/-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----/g)
  const ders = [...pem].map(([, content = '']) => Buffer.from(content, 'base64'))
  const inPem = ders.filter(der => der.toString('hex').startsWith('302a300506032b6570032100'))
  const document = text.includes('-----BEGIN') ? {} : attempt(() => JSON.parse(text))
  const jwks = Array.isArray(document?.keys) ? document.keys : [document]
  const found = [...inPem.map(der => der.subarray(12).toString('base64url')), ...jwks.map(keyOf)]
  const thumbprint = (/** @type {string} */ x) =>
    sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).toString('base64url')
  return new Map(found.filter(x => isBase64url(x, 32)).map(x => [thumbprint(x), x]))
}

/** Whether a text is the canonical form of so many bytes. @type {(text: string, size: number) => boolean} */
const isBase64url = (text, size) => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === size && bytes.toString('base64url') === text
}

/** The order of the field, and the coordinates y of the points whose order divides 8. */
const P = 2n ** 255n - 19n
const Y8 = 2707385501144840649318225287225658788936804267575313519463743609750303021036n
const SMALL_ORDER = [0n, 1n, P - 1n, Y8, P - Y8]

/** Keys of small order are refused, because anyone can forge their signatures. @type {(x: string) => boolean} */
const isSafe = x => {
  const y = BigInt(`0x${Buffer.from(x, 'base64url').reverse().toString('hex')}`) % 2n ** 255n
  return y < P && !SMALL_ORDER.includes(y)
}

/** Whether an Ed25519 signature (RFC 8032) is right. @type {(text: string, signature: string, x: string) => boolean} */
export const isSigned = (text, signature, x) => {
  const key = attempt(() => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }))
  const isWritten = isBase64url(signature, 64) && isSafe(x)
  return isWritten && attempt(() => verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))) === true
}

// ---- Trees. Entries and branches are hashed as in RFC 9162. ----

const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

/**
 * Follows a path up a tree whose last entry is `last` (RFC 9162, sections 2.1.3.2 and 2.1.4.2), to both roots.
 * @type {(at: number, last: number, path: string[], first: Buffer) => string[]}
 */
const climb = (at, last, path, first) => {
  let [earlier, later] = [first, first]
  for (const step of path.map(bytesOf)) {
    if (last === 0) return []
    if (at % 2 === 1 || at === last) {
      ;[earlier, later] = [sha256(NODE, step, earlier), sha256(NODE, step, later)]
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1]
    } else later = sha256(NODE, later, step)
    ;[at, last] = [at >> 1, last >> 1]
  }
  return last === 0 ? [earlier.toString('hex'), later.toString('hex')] : []
}

/**
 * Whether a path leads from a link to the root over `size` links.
 * @type {(link: string, index: number, size: number, path: string[], root: string) => boolean}
 */
const isIncluded = (link, index, size, path, root) =>
  index < size && climb(index, size - 1, path, sha256(LEAF, bytesOf(link)))[1] === root

/**
 * Whether a path shows that a tree extends an earlier, smaller one.
 * @type {(size: number, root: string, laterSize: number, laterRoot: string, path: string[]) => boolean}
 */
const isExtension = (size, root, laterSize, laterRoot, path) => {
  let [at, last] = [size - 1, laterSize - 1]
  while (at % 2 === 1) [at, last] = [at >> 1, last >> 1]
  const [first = '', ...steps] = at === 0 ? [root, ...path] : path
  const [earlier, later] = climb(at, last, steps, bytesOf(first))
  return earlier === root && later === laterRoot
}

/** The tree over links, as the roots of its complete subtrees with their sizes. */
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

  /** @param {Place} leaf @param {string} head */
  areThoseOf(leaf, head) {
    const root = this.parts.map(({ root }) => root).reduceRight((right, left) => sha256(NODE, left, right))
    return this.size === leaf.revision + 1 && root.toString('hex') === leaf.links && head === leaf.head
  }
}

/**
 * Checks the path of a stream in the prefix tree over all streams. A branch covers its bit and all bits above it.
 * @type {(leaf: Leaf, seal: Seal) => void}
 */
const checkLeaf = ({ stream, revision, head, links, path }, seal) => {
  let found = sha256(LEAF, canonical({ head, links, revision, stream }))
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

const COUNT = '(?:0|[1-9][0-9]{0,15})'
const LINK_TEXT = new RegExp(
  `^\\{"data":"(${HASH})","format":([234]),"id":"[0-9a-f-]{36}","metadata":"(${HASH})",` +
    '"revision":([0-9]+),"stream":"([a-z0-9_-]+)","type":"([A-Za-z]+)"\\}$',
)
const TIME = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z'
const SEAL = {
  ...{ at: TIME, earlier: HASH, events: COUNT, keyId: '[A-Za-z0-9_-]{43}', number: COUNT, position: COUNT },
  ...{ previous: HASH, root: HASH, signature: '[A-Za-z0-9_-]{86}', streams: COUNT },
}
const SEAL_MEMBERS = Object.entries(SEAL).map(([name, form]) =>
  form === COUNT ? `"${name}":(?<${name}>${form})` : `"${name}":"(?<${name}>${form})"`,
)
const SEAL_TEXT = new RegExp(`^\\{${SEAL_MEMBERS}\\}$`)

const MAX_DEPTH = 100

/**
 * The canonical form of a JSON value (RFC 8785). Values that are nested too deeply or hold half of a pair have none.
 * @type {(value: any, levels?: number) => string}
 */
const canonical = (value, levels = MAX_DEPTH) => {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' && !isText(value) ? '' : JSON.stringify(value)
  if (levels === 0) return ''
  if (Array.isArray(value)) return `[${value.map(each => canonical(each, levels - 1))}]`
  const names = Object.keys(value).sort()
  return `{${names.map(name => `${canonical(name)}:${canonical(value[name], levels - 1)}`)}}`
}

/**
 * Parses the object in a text, which must be canonical, because other texts can be ambiguous.
 * @type {(text: string, revision: number) => any}
 */
const readData = (text, revision) => {
  const data = attempt(() => JSON.parse(text))
  const isCanonical = isObject(data) && attempt(() => canonical(data)) === text
  hold(isCanonical, `event ${revision} is not in the documented form`)
  return data
}

/** @type {(previous: string, texts: { linkText: string }) => string} */
const linkOf = (previous, { linkText }) => hashOf(previous + linkText)

/** The only event type whose data a proof may omit: a cost at a provider, which moves no credits. */
const WITHHELD = 'ProviderCostRecorded'

const FORMAT_1 = { type: isLike('[A-Za-z]+'), data: isObject, metadata: isObject }

/**
 * An event whose link was proved, from the texts of the link.
 * @type {(texts: Texts, stream: string, revision: number) => Event}
 */
export const readEvent = ({ linkText, dataText, metadataText }, stream, revision) => {
  if (dataText === undefined && metadataText === undefined) {
    const parts = readData(linkText, revision)
    const isEvent = fits(parts, FORMAT_1) && !Object.hasOwn(parts.metadata, 'format')
    hold(isEvent, `event ${revision} is not in the documented form`)
    return { format: 1, type: parts.type, data: parts.data }
  }
  const [, data, format, metadata, number, name, type = ''] = LINK_TEXT.exec(linkText) ?? []
  const isWithheld = dataText === undefined && type === WITHHELD
  const areRight = (isWithheld || data === hashOf(dataText ?? '')) && metadata === hashOf(metadataText ?? '')
  const isWhole = areRight && number === String(revision) && name === stream
  hold(isWhole, `the texts of event ${revision} of ${stream} do not belong together`)
  return { format: Number(format), type, data: isWithheld ? {} : readData(dataText ?? '', revision) }
}

/** Like readEvent, for an event that a path proves. @type {(event: ProvenEvent, leaf: Leaf) => Event} */
const checkEvent = (proven, leaf) => {
  const { revision, previous, path } = proven
  const isInTree = isIncluded(linkOf(previous, proven), revision, leaf.revision + 1, path, leaf.links)
  hold(isInTree, `event ${revision} is not in the tree of ${leaf.stream}`)
  return readEvent(proven, leaf.stream, revision)
}

/** @type {(proven: any, keys: Keys) => Seal} */
const checkSeal = (proven, keys) => {
  /** @type {any} */
  const found = SEAL_TEXT.exec(proven.dataText)?.groups
  hold(found && Number(found.number) < 2 ** 31, 'a seal is not in the documented form')
  const { keyId, previous, signature } = found
  const number = Number(found.number)
  hold(linkOf(proven.previous, proven) === proven.link, `the link of seal ${number} is not that of its texts`)
  const isSeal = readEvent(proven, 'seals', number).type === 'LogSealed' && previous === proven.previous
  hold(isSeal, `seal ${number} is not in the documented form`)
  const key = keys.get(keyId)
  hold(key !== undefined, `seal ${number} is signed with the key ${keyId}, which was not given`)
  const signed = proven.dataText.replace(`"signature":"${signature}",`, '')
  hold(isSigned(signed, signature, key), `the signature of seal ${number} is wrong`)
  // No signature covers the link of a seal, so its name is the digest of what the signature covers.
  return { ...found, number, name: `${number}:sha256-${hashOf(signed)}`, link: proven.link }
}

// ---- Prices: docs/ledger-format.md, "Recomputing a price" ----

/** The fields of each kind of line that follow from the price list. @type {Record<string, string[]>} */
const LINES = {
  base: ['amountMicros'],
  quantity: ['parameter', 'value'],
  multiplier: ['parameter', 'value', 'factorMicros'],
  tokens: ['tokens', 'count', 'perMillionMicros'],
  surcharge: ['parameter', 'equals', 'usdMicros'],
}

const MILLION = 1_000_000n

/** @type {(value: any) => bigint} */
const whole = value => {
  if (!isAmount(value)) throw new TypeError('no whole number')
  return BigInt(value)
}

/** @type {(value: any) => bigint} */
const millionths = value => {
  if (!isNumber(value)) throw new TypeError('no number')
  return BigInt(Math.round(value * 1_000_000))
}

const dividedUp = (/** @type {bigint} */ dividend, /** @type {bigint} */ divisor) => (dividend + divisor - 1n) / divisor

/**
 * The sum of the lines of a price. Base × factors and the tokens are rounded up together, before the surcharges.
 * @type {(lines: any[]) => bigint}
 */
const totalOf = lines => {
  let [product, divisor, tokens, added] = [0n, 1n, 0n, 0n]
  for (const line of lines) {
    if (line.kind === 'base') product = whole(line.amountMicros)
    else if (line.kind === 'tokens') tokens += whole(line.count) * whole(line.perMillionMicros)
    else if (line.kind === 'surcharge') added += whole(line.amountMicros)
    else {
      product *= line.kind === 'quantity' ? millionths(line.value) : whole(line.factorMicros)
      divisor *= MILLION
    }
  }
  return dividedUp(product * MILLION + tokens * divisor, divisor * MILLION) + added
}

/**
 * The fault in the total of a receipt, which must follow from its lines. Only the first line is the base price. If
 * tokens have a price, there may be none.
 * @type {(receipt: any) => string | undefined}
 */
const sumFault = ({ lines, totalMicros, usdPerCreditMicros }) => {
  const kinds = lines.map((/** @type {any} */ { kind }) => kind)
  const isBased = kinds[0] === 'base' || kinds.includes('tokens')
  if (!isBased || kinds.lastIndexOf('base') > 0) return 'its receipt does not have exactly one base price'
  for (const line of lines) {
    if (line.kind !== 'surcharge') continue
    // In format 1, the rate is in the lines.
    const rate = usdPerCreditMicros ?? line.usdPerCreditMicros
    if (!rate) return 'its receipt has a surcharge and no exchange rate'
    const amount = dividedUp(whole(line.usdMicros) * MILLION, whole(rate))
    if (amount !== whole(line.amountMicros))
      return `its surcharge for ${line.parameter} is ${line.amountMicros}, not ${amount}`
  }
  const total = totalOf(lines)
  return total === whole(totalMicros) ? undefined : `its price is ${totalMicros}, and its receipt adds up to ${total}`
}

const asText = (/** @type {any} */ value) => (isText(value) ? value : canonical(value))
/** @type {(object: any, name: any) => any} */
const memberOf = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined)

/**
 * The lines of the price list for the input of a run, which may have at most so many tokens.
 * @type {(rule: any, input: any, inputTokens: number) => Generator<unknown[]>}
 */
function* listedLines({ baseMicros, quantities, multipliers, tokens, surcharges }, input, inputTokens) {
  if (baseMicros !== 0) yield ['base', baseMicros]
  for (const name of quantities) if (isNumber(memberOf(input, name))) yield ['quantity', name, input[name]]
  for (const [name, factors] of Object.entries(multipliers)) {
    const value = memberOf(input, name)
    if (value !== undefined) yield ['multiplier', name, asText(value), memberOf(factors, asText(value)) ?? null]
  }
  const [answer, other] = tokens?.thinking > tokens?.output ? ['thinking', 'output'] : ['output', 'thinking']
  const most = { input: inputTokens, cached_input: 0, [answer]: memberOf(input, 'max_output_tokens'), [other]: 0 }
  for (const [kind, rate] of Object.entries(tokens ?? {})) yield ['tokens', kind, most[kind] ?? null, rate]
  for (const { when, usdMicros } of surcharges) {
    const value = memberOf(input, when.parameter)
    const isEqual = value !== undefined && canonical(value) === canonical(when.equals)
    if (isEqual) yield ['surcharge', when.parameter, canonical(when.equals), usdMicros]
  }
}

/**
 * The input tokens that the lines of a debit count. The service chooses the number: what a run did not use is released.
 * @type {(lines: any[]) => number}
 */
const inputTokens = lines => lines.find(({ tokens }) => tokens === 'input')?.count ?? 0

/**
 * The input of a run, as far as prices need it. If the input is encrypted, the values that the receipt names count. A
 * multiplier has a value only as text, so the value of another line comes first.
 * @type {(queued: any, lines: any[]) => any}
 */
const inputOf = ({ input, personal }, lines) => {
  if (personal === undefined) return input
  const values = lines.map(({ kind, parameter, value, equals }) => ({ kind, pair: [parameter, value ?? equals] }))
  const [texts, others] = [true, false].map(isText => values.filter(({ kind }) => (kind === 'multiplier') === isText))
  const most = lines.find(({ tokens, count }) => tokens !== undefined && tokens !== 'input' && count > 0)?.count
  const named = [...(texts ?? []), ...(others ?? [])].map(({ pair }) => pair)
  return Object.fromEntries([['max_output_tokens', most], ...named])
}

/**
 * Checks a receipt against the run after it, and against the price list that the receipt names.
 * @type {(revision: number, receipt: any, queued: any, catalog: Map<number, any>) => void}
 */
const checkPrice = (revision, { model, endpoint, catalogRevision, lines }, queued, catalog) => {
  const isOfRun = isText(endpoint) && model === queued.model && endpoint === queued.endpoint
  hold(isOfRun, `event ${revision} runs another model than the receipt before it`)
  const family = catalog.get(catalogRevision)
  const named = `catalog revision ${catalogRevision}`
  hold(family, `event ${revision - 1}: its receipt names ${named}, which publishes no prices`)
  hold(family.id === model, `event ${revision - 1}: ${named} publishes ${family.id}, not ${model}`)
  const found = family.endpoints.find((/** @type {any} */ { id }) => id === endpoint)
  hold(found, `event ${revision - 1}: ${named} has no endpoint ${endpoint}`)
  const input = inputOf(queued, lines)
  const billed = lines.map((/** @type {any} */ line) => {
    // In format 1, a surcharge has no "equals": the value is that of the input.
    const { equals = memberOf(input, line.parameter) ?? null } = line
    const told = (/** @type {string} */ name) => (name === 'equals' ? canonical(equals) : (line[name] ?? null))
    return canonical([line.kind, ...(LINES[line.kind] ?? []).map(told)])
  })
  const listed = [...listedLines(found.pricing, input, inputTokens(lines))].map(line => canonical(line))
  const asWords = (/** @type {string} */ line) =>
    JSON.parse(line)
      .map((/** @type {any} */ part) => part ?? 'none')
      .join(' ')
  const strange = billed.find((/** @type {string} */ line) => !listed.includes(line))
  const isNoneStrange = strange === undefined
  const stranger = isNoneStrange ? '' : `its receipt has the line "${asWords(strange)}"`
  hold(isNoneStrange, `event ${revision - 1}: ${stranger}, which the price list does not give`)
  const missing = listed.find(line => !billed.includes(line))
  hold(!missing, `event ${revision - 1}: its receipt lacks the line "${missing && asWords(missing)}" of the price list`)
  hold(billed.length === listed.length, `event ${revision - 1}: its receipt has a line twice`)
}

/** A receipt without the counts of tokens, and what follows from them. @type {(receipt: any) => any} */
const withoutCounts = ({ totalMicros: _, counted: __, lines, ...receipt }) => ({
  ...receipt,
  lines: lines.map((/** @type {any} */ { count: _, ...line }) => line),
})

/**
 * Checks what is released of a debit because its tokens cost less. `reserve` is the receipt of the debit, if known.
 * @type {(revision: number, released: any, reserve: any) => void}
 */
const checkRelease = (revision, { amountMicros, receipt }, reserve) => {
  const fault = sumFault(receipt)
  hold(!fault, `event ${revision}: ${fault}`)
  if (!reserve) return
  const isSame = canonical(withoutCounts(receipt)) === canonical(withoutCounts(reserve))
  hold(isSame, `event ${revision}: its receipt has other lines or rates than that of its debit`)
  const isRest = amountMicros === reserve.totalMicros - receipt.totalMicros
  hold(isRest, `event ${revision} releases another amount than its receipt leaves of the debit`)
}

/**
 * Checks the price of a completed run against its tokens. Without a release, the run needed all of its debit.
 * @type {(revision: number, completed: any, released: any, reserve: any) => void}
 */
const checkUsage = (revision, { usage }, released, reserve) => {
  const receipt = released?.receipt ?? reserve
  if (!receipt) return
  hold(isObject(usage), `event ${revision} does not tell the tokens of its run`)
  const lines = receipt.lines.map((/** @type {any} */ line) =>
    line.kind === 'tokens' ? { ...line, count: memberOf(usage, line.tokens) ?? null } : line,
  )
  const isPaid = released
    ? canonical(lines) === canonical(receipt.lines) && (receipt.counted ?? false) === (usage.counted ?? false)
    : totalOf(lines) >= whole(receipt.totalMicros)
  hold(isPaid, `event ${revision} used other tokens than its run has paid for`)
}

// ---- The three kinds of proofs ----

/** @type {Record<string, [sign: 1 | -1, verb: string]>} */
const MOVES = {
  CreditsGranted: [1, 'granted'],
  CreditsWithdrawn: [-1, 'withdrawn'],
  CreditsDebited: [-1, 'debited'],
  CreditsRefunded: [1, 'refunded'],
  CreditsReleased: [1, 'released'],
  CreditsExpired: [-1, 'expired'],
}

const credits = (/** @type {number} */ micros) => {
  const digits = String(micros).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/**
 * The change of the balance, the balance after the event, and both as text. Undefined if the event moved no credits.
 * @type {(revision: number, event: Event) => { change: number, after: number, words: string } | undefined}
 */
const moveOf = (revision, { type, data }) => {
  const [sign, verb] = memberOf(MOVES, type) ?? []
  if (!sign) return undefined
  const { amountMicros: amount, balanceAfterMicros: after, runId, receipt, debit = receipt } = data
  const { model } = isObject(debit) ? debit : {}
  const isTold = isAmount(amount) && isAmount(after) && isLikeOrAbsent('run_[0-9a-z]{26}', runId)
  hold(isTold && isLikeOrAbsent('[a-z0-9-]{1,64}', model), `event ${revision} is not in the documented form`)
  const named = (runId ? ` for ${runId}` : '') + (model ? ` of ${model}` : '')
  return { change: sign * amount, after, words: `${credits(amount)} ${verb}${named}, ${credits(after)} after` }
}

/** @type {(proof: any, keys: Keys) => Shown} */
const checkInclusion = ({ event: proven, leaf, seal: sealed }, keys) => {
  const seal = checkSeal(sealed, keys)
  checkLeaf(leaf, seal)
  const event = checkEvent(proven, leaf)
  const move = moveOf(proven.revision, event)
  const right = `right: ${event.type}, event ${proven.revision} of ${leaf.stream}, is sealed`
  return { seals: [seal], lines: move ? [right, `credits: ${move.words}`] : [right] }
}

/** @type {(proof: any, keys: Keys) => Shown} */
const checkConsistency = (proof, keys) => {
  const [earlier, later] = [checkSeal(proof.earlier, keys), checkSeal(proof.later, keys)]
  const [first, last] = [earlier.number, later.number]
  hold(first < last && Number(earlier.events) <= Number(later.events), 'the seals are in the wrong order')
  const isCovered = isIncluded(earlier.link, first, last, proof.inclusion, later.earlier)
  hold(isCovered, `seal ${last} does not cover seal ${first}`)
  const isExtended = isExtension(first, earlier.earlier, last, later.earlier, proof.consistency)
  hold(isExtended, `seal ${last} does not extend what came before seal ${first}`)
  return { seals: [earlier, later], lines: [`right: seal ${last} extends seal ${first}`] }
}

/** @type {(proof: any, keys: Keys) => Shown} */
const checkStatement = (proof, keys) => {
  const { seals, before, catalog } = openStatement(proof, keys)
  // All events are known to be there before one of them is read.
  const links = new LinkCheck(proof, before)
  for (const texts of proof.events) links.take(texts)
  links.end()
  const events = new EventCheck(proof, before, catalog)
  const moves = proof.events.flatMap((/** @type {Texts} */ texts) => events.take(texts)?.line ?? [])
  const { stream, revision } = proof.to.leaf
  const { opening, balance, prices } = events
  const where = proof.from ? 'between the seals' : 'up to the seal'
  const lines = [
    `right: ${stream.slice('account-'.length)} has ${revision - before} events ${where}, all here`,
    ...moves,
    `balance: ${credits(opening)} credits before, ${credits(balance ?? 0)} credits after`,
    `prices: ${prices} recomputed`,
  ]
  return { seals, lines }
}

/**
 * What a statement proves without its events. `before` is the last revision under the earlier seal.
 * @type {(proof: any, keys: Keys) => { seals: Seal[], before: number, catalog: Map<number, any> }}
 */
const openStatement = ({ from, to, catalog }, keys) => {
  const earlier = from && checkSeal(from.seal, keys)
  const later = checkSeal(to.seal, keys)
  hold(!from || earlier.number < later.number, 'the seals are in the wrong order')
  if (from) checkLeaf(from.leaf, earlier)
  checkLeaf(to.leaf, later)
  const { stream } = to.leaf
  const isOne = stream.startsWith('account-') && (!from || from.leaf.stream === stream)
  hold(isOne, 'the statement is not about one account')
  const before = from ? from.leaf.revision : -1
  return {
    seals: from ? [earlier, later] : [later],
    before,
    catalog: catalog ? readCatalog(catalog, later) : new Map(),
  }
}

/** Follows the links and the tree over them, so that the events are known to be all there. */
class LinkCheck {
  /** @param {any} proof @param {number} before */
  constructor({ from, to, start }, before) {
    hold(start.revision === 0 || start.revision <= before, 'the statement begins at the wrong event')
    this.from = from
    this.to = to
    this.before = before
    this.links = new Links(start.revision, start.tree)
    this.link = start.previous
  }

  /** @param {Texts} texts */
  take(texts) {
    this.link = linkOf(this.link, texts)
    this.links.add(this.link)
    if (this.links.size - 1 !== this.before) return
    hold(this.links.areThoseOf(this.from.leaf, this.link), 'the events are not those that the earlier seal covers')
  }

  end() {
    hold(this.links.areThoseOf(this.to.leaf, this.link), 'the events are not those that the seal covers')
  }
}

/**
 * The families of models with their prices, by the revision of the catalog.
 * @type {(proven: { leaf: Leaf, events: ProvenEvent[] }, seal: Seal) => Map<number, any>}
 */
const readCatalog = ({ leaf, events }, seal) => {
  checkLeaf(leaf, seal)
  hold(leaf.stream === 'catalog', 'the prices are not those of the catalog')
  return new Map(events.map(event => [event.revision, checkEvent(event, leaf).data.family]))
}

/** Follows the balance from event to event, and recomputes each price. */
class EventCheck {
  /** @param {any} proof @param {number} before @param {Map<number, any>} catalog */
  constructor({ to, start }, before, catalog) {
    this.stream = to.leaf.stream
    this.start = start
    this.before = before
    this.catalog = catalog
    this.revision = start.revision
    this.format = 1
    this.prices = 0
    this.opening = 0
    /** @type {number | undefined} */
    this.balance = start.revision === 0 ? 0 : undefined
    this.debit = /** @type {any} */ (undefined)
    this.released = /** @type {any} */ (undefined)
    /** The receipts of debits for tokens, by run. */
    this.reserves = new Map()
  }

  /**
   * The movement of credits, if the event is one of the statement and moved some.
   * @param {Texts} texts
   * @returns {{ revision: number, change: number, after: number, line: string } | undefined}
   */
  take(texts) {
    const { stream, start, before, catalog, reserves, revision } = this
    this.revision += 1
    const event = readEvent(texts, stream, revision)
    const { type, data } = event
    hold(event.format >= this.format, `the format of event ${revision} is lower than that of the event before it`)
    this.format = event.format
    if (revision === 0) {
      const genesis = event.format === 1 ? '0'.repeat(64) : hashOf(`{"format":${event.format},"stream":"${stream}"}`)
      hold(start.previous === genesis && type === 'AccountOpened', 'the statement begins at the wrong event')
      hold(data.accountId === stream.slice('account-'.length), 'the first event opens another account')
    }
    const move = moveOf(revision, event)
    if (move) {
      const { change, after } = move
      const { balance } = this
      const sum = `${balance} ${change < 0 ? '-' : '+'} ${Math.abs(change)}`
      const isRight = balance === undefined || balance + change === after
      hold(isRight, `the balance after event ${revision} is ${after}, and ${sum} is not`)
      this.balance = after
    }
    hold(this.balance !== undefined, 'the statement begins at the wrong event')
    const { debit, released } = this
    if (debit) {
      const isNext = (type === 'RunQueued' || type === 'RunStarted') && data.runId === debit.runId
      hold(isNext, `event ${revision} is not the run of the debit before it`)
      checkPrice(revision, debit.receipt, data, catalog)
      this.prices += 1
    }
    if (released) {
      const isEnd = type === 'RunCompleted' && data.runId === released.runId
      hold(isEnd, `event ${revision} is not the end of the run of the release before it`)
    }
    if (type === 'RunCompleted') checkUsage(revision, data, released, reserves.get(data.runId))
    if (type === 'RunCompleted' || type === 'RunFailed') reserves.delete(data.runId)
    this.released = type === 'CreditsReleased' ? data : undefined
    if (this.released) checkRelease(revision, this.released, reserves.get(data.runId))
    this.prices += this.released ? 1 : 0
    this.debit = type === 'CreditsDebited' ? data : undefined
    if (this.debit) {
      const isSame = data.receipt.totalMicros === data.amountMicros
      hold(isSame, `event ${revision} debits another amount than its receipt`)
      const fault = sumFault(data.receipt)
      hold(!fault, `event ${revision}: ${fault}`)
      const hasTokens = data.receipt.lines.some((/** @type {any} */ { kind }) => kind === 'tokens')
      if (hasTokens) reserves.set(data.runId, data.receipt)
    }
    if (revision === before) this.opening = this.balance
    if (!move || revision <= before) return undefined
    return { revision, change: move.change, after: move.after, line: `event ${revision}: ${move.words}` }
  }
}

/** Checks a statement from the opening of its account on, event by event, so that few of them are in memory. */
export class StatementCheck {
  /** Throws Wrong. @param {string} text The document without its events. @param {Keys} keys */
  constructor(text, keys) {
    const proof = attempt(() => JSON.parse(text))
    const { events: _, ...members } = KINDS.statement[1]
    const isProof = proof?.kind === 'statement' && !proof.from && isOnlyIn(text, proof, { ...head, ...members })
    hold(isProof, 'it is no statement in the documented form')
    const opened = during(() => openStatement(proof, keys))
    this.seal = /** @type {Seal} */ (opened.seals[0])
    this.last = /** @type {number} */ (proof.to.leaf.revision)
    this.links = new LinkCheck(proof, -1)
    this.events = new EventCheck(proof, -1, opened.catalog)
  }

  /** The movement of credits, if the event is one. Throws Wrong. @param {string} text */
  take(text) {
    const found = attempt(() => JSON.parse(text))
    const { revision } = this.events
    hold(isOnlyIn(text, found, texts), `event ${revision} is not in the documented form`)
    hold(revision <= this.last, `event ${revision} is not one that the seal covers`)
    return during(() => {
      this.links.take(found)
      return this.events.take(found)
    })
  }

  /** Throws Wrong unless all events were there. Returns the balance after them. */
  end() {
    hold(this.events.revision === this.last + 1, `the events after event ${this.events.revision - 1} are missing`)
    during(() => this.links.end())
    return this.events.balance ?? 0
  }
}

/**
 * Checks the events of an account that no seal covers yet, event by event: the links between them, the balances and the
 * prices. The owner of the log could still have written others, and could change them until a seal covers them.
 */
export class ChainCheck {
  /** Throws Wrong. @param {string} text The document without its events. */
  constructor(text) {
    const chain = attempt(() => JSON.parse(text))
    hold(isOnlyIn(text, chain, CHAIN), 'the events are not in the documented form')
    const { stream, previous, last, head, at, catalog } = chain
    const familyIn = (/** @type {Texts} */ texts, /** @type {number} */ revision) =>
      readEvent(texts, 'catalog', revision).data.family
    const families = during(() =>
      catalog.map((/** @type {any} */ { revision, ...texts }) => [revision, familyIn(texts, revision)]),
    )
    this.at = /** @type {string} */ (at)
    this.last = /** @type {number} */ (last)
    this.head = /** @type {string} */ (head)
    this.link = /** @type {string} */ (previous)
    this.events = new EventCheck({ to: { leaf: { stream } }, start: { revision: 0, previous } }, -1, new Map(families))
  }

  /** The movement of credits, if the event is one. Throws Wrong. @param {string} text */
  take(text) {
    const found = attempt(() => JSON.parse(text))
    const { revision } = this.events
    hold(isOnlyIn(text, found, texts), `event ${revision} is not in the documented form`)
    return during(() => {
      this.link = linkOf(this.link, found)
      return this.events.take(found)
    })
  }

  /** Throws Wrong unless all events were there. Returns the balance after them. */
  end() {
    const isWhole = this.events.revision === this.last + 1 && this.link === this.head
    hold(isWhole, 'the links of the events do not lead to the newest event')
    return this.events.balance ?? 0
  }
}

// ---- The shape of the document ----

const revision = isBelow(2 ** 31 - 1)
const texts = { linkText: isText, dataText_: isText, metadataText_: isText }
const event = { revision, previous: isHash, path: [isHash], ...texts }
const place = { stream: isLike('[a-z]+(-[a-z0-9_]+)?'), revision, head: isHash, links: isHash }
const leaf = { ...place, path: [{ bit: isBelow(256), sibling: isHash }] }
const seal = { previous: isHash, linkText: isText, dataText: isText, metadataText: isText, link: isHash }
const end = { seal, leaf }
const start = { revision, previous: isHash, tree: [isHash] }
const CHAIN = {
  ...{ stream: isLike('account-[a-z0-9_]+'), previous: isHash, last: revision, head: isHash, at: isText },
  catalog: [{ revision, ...texts }],
}
const isFilled = (/** @type {any} */ value) => fits(value, [texts]) && value.length > 0
const head = { format: isLike('tollgate-proof'), version: (/** @type {any} */ value) => value === 1, kind: isText }

/** @type {Record<string, [check: (proof: any, keys: Keys) => Shown, members: object]>} */
const KINDS = {
  inclusion: [checkInclusion, { event, leaf, seal }],
  consistency: [checkConsistency, { earlier: seal, later: seal, inclusion: [isHash], consistency: [isHash] }],
  statement: [checkStatement, { from_: end, to: end, start, events: isFilled, catalog_: { leaf, events: [event] } }],
}

const OLD = '; no signature covers such an old name, so it may be forged'
const CONSISTENCY = '; a proof of consistency from the earlier to the later one shows whether both are of one log'

/** How many members the objects in a JSON text have. @type {(text: string) => number} */
const membersIn = text => {
  let [members, isInText] = [0, false]
  for (const [token, colon] of text.matchAll(/\\.|"(\s*:)?/g)) {
    if (token.startsWith('\\')) continue
    if (isInText && colon) members += 1
    isInText = !isInText
  }
  return members
}

/** Whether a text has a shape, and no name twice, which could be read in two ways. @type {(text: string, value: any, shape: any) => boolean} */
const isOnlyIn = (text, value, shape) => fits(value, shape) && membersIn(text) === membersIn(JSON.stringify(value))

/** The owner of the log may have put anything into an event. @template T @param {() => T} run */
const during = run => {
  try {
    return run()
  } catch (error) {
    throw error instanceof Wrong ? error : new Wrong('an event is not in the documented form')
  }
}

/** What a proof shows: its seals, and all else as lines. Throws Wrong. @type {(text: string, keys: Keys) => Shown} */
export const examine = (text, keys) => {
  const proof = attempt(() => JSON.parse(text))
  const [run, members] = memberOf(KINDS, proof?.kind) ?? []
  const isProof = run && isOnlyIn(text, proof, { ...head, ...members })
  hold(isProof, 'it is no tollgate-proof of version 1 in the documented form')
  return during(() => run(proof, keys))
}

/** What a proof shows, as lines. Throws Wrong. @type {(text: string, keys: Keys, kept?: string) => string[]} */
export const check = (text, keys, kept) => {
  const { seals, lines } = examine(text, keys)
  const all = [...lines, ...seals.map(({ name, at }) => `seal ${name} of ${at}`)]
  if (kept === undefined) return [...all, 'To compare with a seal that you kept, pass its name as --seal.']
  const isOld = !kept.includes(':sha256-')
  const isKnown = seals.some(({ number }) => kept.startsWith(`${number}:`))
  const found = seals.find(({ number, name, link }) => kept === name || kept === `${number}:${link}`)
  const hint = `${isOld ? OLD : ''}${isKnown ? '' : CONSISTENCY}`
  hold(found, `it is about seal ${seals.at(-1)?.name}, and not about seal ${kept}, which was kept${hint}`)
  return isOld ? [...all, `No signature covers the old name ${kept}: keep ${found.name} instead.`] : all
}

const main = () => {
  const options = { key: { type: /** @type {const} */ ('string') }, seal: { type: /** @type {const} */ ('string') } }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0 || values.key === undefined)
    throw new Error('Usage: node verify.mjs PROOF --key KEYS [--seal SEAL]')
  if (values.seal !== undefined && !/^(0|[1-9][0-9]{0,14}):(sha256-)?[0-9a-f]{64}$/.test(values.seal))
    throw new Error('--seal must be a seal such as 12:sha256-6cdf…, with 64 hexadecimal digits.')
  const keys = parseKeys(readFileSync(values.key, 'utf8'))
  const noKey = `${values.key} has no Ed25519 public key; "openssl pkey -in ${values.key} -pubout" prints that of a private one.`
  if (keys.size === 0) throw new Error(noKey)
  const text = readFileSync(path, 'utf8')
  try {
    console.log(check(text, keys, values.seal).join('\n'))
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
