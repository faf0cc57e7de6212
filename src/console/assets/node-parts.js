// What `docs/verify/verify.mjs` needs of Node.js, so that the program runs in browsers as it is. The functions of
// browsers for digests and signatures cannot be used: they are asynchronous, and missing on pages without TLS.

const K = fractionsOf(3, 64, 32)
const START = fractionsOf(2, 8, 32)
const K_LONG = fractionsOf(3, 80, 64)
const START_LONG = fractionsOf(2, 8, 64)

/**
 * The first bits of the fractions of the square or cube roots of the first primes, which are the constants of SHA-2.
 * @param {number} degree @param {number} count @param {number} bits
 */
function fractionsOf(degree, count, bits) {
  /** @type {bigint[]} */
  const found = []
  for (let n = 2; found.length < count; n++) {
    let isPrime = true
    for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) isPrime = false
    if (isPrime) found.push(rootOf(BigInt(n) << BigInt(degree * bits), degree) & ((1n << BigInt(bits)) - 1n))
  }
  return found
}

/** The whole part of a root, by bisection. @param {bigint} value @param {number} degree */
function rootOf(value, degree) {
  let [low, high] = [0n, value]
  while (low < high) {
    const middle = (low + high + 1n) >> 1n
    if (middle ** BigInt(degree) <= value) low = middle
    else high = middle - 1n
  }
  return low
}

const k = Int32Array.from(K, Number)
const start = Int32Array.from(START, Number)
const words = new Int32Array(64)

/** SHA-256 (FIPS 180-4). */
class Sha256 {
  #state = Int32Array.from(start)
  #block = new Uint8Array(64)
  #view = new DataView(this.#block.buffer)
  #filled = 0
  #length = 0

  /** @param {string | Uint8Array} part */
  update(part) {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part
    this.#length += bytes.length
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(64 - this.#filled, bytes.length - at)
      this.#block.set(bytes.subarray(at, at + count), this.#filled)
      this.#filled += count
      at += count
      if (this.#filled === 64) this.#mix()
    }
    return this
  }

  /** @param {string} [encoding] @returns {any} */
  digest(encoding) {
    const bits = BigInt(this.#length) * 8n
    this.#block.fill(0, this.#filled)
    this.#block[this.#filled] = 0x80
    if (this.#filled >= 56) {
      this.#mix()
      this.#block.fill(0)
    }
    this.#view.setBigUint64(56, bits)
    this.#mix()
    const found = new Bytes(32)
    const view = new DataView(found.buffer)
    for (const [index, word] of this.#state.entries()) view.setInt32(4 * index, word)
    return encoding ? found.toString(encoding) : found
  }

  #mix() {
    const view = this.#view
    const w = words
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(4 * i)
    for (let i = 16; i < 64; i++) {
      const [x, y] = [num(w[i - 15]), num(w[i - 2])]
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)
      const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10)
      w[i] = (num(w[i - 16]) + s0 + num(w[i - 7]) + s1) | 0
    }
    const state = this.#state
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + num(k[i]) + num(w[i])) | 0
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    const added = [a, b, c, d, e, f, g, h]
    for (let i = 0; i < 8; i++) state[i] = num(state[i]) + num(added[i])
    this.#filled = 0
  }
}

/** @param {number} word @param {number} count */
const turn = (word, count) => (word >>> count) | (word << (32 - count))

/** A number in a list that is known to be long enough. @param {number | undefined} value */
const num = value => /** @type {number} */ (value)

const encoder = new TextEncoder()

/** SHA-512 (FIPS 180-4). Only signatures need it. @param {Uint8Array} bytes */
const sha512 = bytes => {
  const whole = 128 * Math.ceil((bytes.length + 17) / 128)
  const padded = new Uint8Array(whole)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(whole - 8, BigInt(bytes.length) * 8n)
  let state = [...START_LONG]
  for (let at = 0; at < whole; at += 128) {
    const w = Array.from({ length: 16 }, (_, index) => view.getBigUint64(at + 8 * index))
    for (let i = 16; i < 80; i++) {
      const [x, y] = [big(w[i - 15]), big(w[i - 2])]
      const s0 = turnLong(x, 1n) ^ turnLong(x, 8n) ^ (x >> 7n)
      const s1 = turnLong(y, 19n) ^ turnLong(y, 61n) ^ (y >> 6n)
      w.push(BigInt.asUintN(64, big(w[i - 16]) + s0 + big(w[i - 7]) + s1))
    }
    let [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n, g = 0n, h = 0n] = state
    for (let i = 0; i < 80; i++) {
      const s1 = turnLong(e, 14n) ^ turnLong(e, 18n) ^ turnLong(e, 41n)
      const t1 = h + s1 + ((e & f) ^ (BigInt.asUintN(64, ~e) & g)) + big(K_LONG[i]) + big(w[i])
      const s0 = turnLong(a, 28n) ^ turnLong(a, 34n) ^ turnLong(a, 39n)
      const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c))
      ;[a, b, c, d, e, f, g, h] = [BigInt.asUintN(64, t1 + t2), a, b, c, BigInt.asUintN(64, d + t1), e, f, g]
    }
    const added = [a, b, c, d, e, f, g, h]
    state = state.map((word, index) => BigInt.asUintN(64, word + big(added[index])))
  }
  const found = new Uint8Array(64)
  const digits = new DataView(found.buffer)
  for (const [index, word] of state.entries()) digits.setBigUint64(8 * index, word)
  return found
}

/** @param {bigint} word @param {bigint} count */
const turnLong = (word, count) => BigInt.asUintN(64, (word >> count) | (word << (64n - count)))

/** @param {bigint | undefined} value */
const big = value => /** @type {bigint} */ (value)

// ---- Ed25519 (RFC 8032). Points are in extended coordinates. Nothing here is secret. ----

/** @typedef {[x: bigint, y: bigint, z: bigint, t: bigint]} Point */

const P = 2n ** 255n - 19n
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

/** @param {bigint} value */
const mod = value => ((value % P) + P) % P

/** @param {bigint} base @param {bigint} exponent */
const power = (base, exponent) => {
  let [result, factor] = [1n, mod(base)]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * factor)
    factor = mod(factor * factor)
  }
  return result
}

const D = mod(-121665n * power(121666n, P - 2n))
const ROOT = power(2n, (P - 1n) / 4n)

/** @type {(one: Point, other: Point) => Point} */
const add = ([x1, y1, z1, t1], [x2, y2, z2, t2]) => {
  const a = mod((y1 - x1) * (y2 - x2))
  const b = mod((y1 + x1) * (y2 + x2))
  const c = mod(2n * D * t1 * t2)
  const d = mod(2n * z1 * z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

/** @param {Point} point @param {bigint} factor */
const times = (point, factor) => {
  /** @type {Point} */
  let result = [0n, 1n, 1n, 0n]
  let doubled = point
  for (let rest = factor; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = add(result, doubled)
    doubled = add(doubled, doubled)
  }
  return result
}

/** @param {Uint8Array} bytes */
const littleEndian = bytes => bytes.reduceRight((sum, octet) => (sum << 8n) | BigInt(octet), 0n)

/** The point of 32 bytes; undefined if there is none. @param {Uint8Array} bytes @returns {Point | undefined} */
const pointOf = bytes => {
  const whole = littleEndian(bytes)
  const y = whole & (2n ** 255n - 1n)
  const isOdd = whole >> 255n
  if (y >= P) return undefined
  const [u, v] = [mod(y * y - 1n), mod(D * y * y + 1n)]
  let x = mod(u * v ** 3n * power(u * v ** 7n, (P - 5n) / 8n))
  if (mod(v * x * x) === mod(-u)) x = mod(x * ROOT)
  if (mod(v * x * x) !== u || (x === 0n && isOdd)) return undefined
  if ((x & 1n) !== isOdd) x = P - x
  return [x, y, 1n, mod(x * y)]
}

const BASE_Y = mod(4n * power(5n, P - 2n))
const BASE = /** @type {Point} */ (
  pointOf(Uint8Array.from({ length: 32 }, (_, at) => Number((BASE_Y >> BigInt(8 * at)) & 255n)))
)

/** @param {Point} one @param {Point} other */
const areEqual = ([x1, y1, z1], [x2, y2, z2]) => mod(x1 * z2 - x2 * z1) === 0n && mod(y1 * z2 - y2 * z1) === 0n

/** @param {{ key: { x: string } }} options */
export const createPublicKey = ({ key: { x } }) => Buffer.from(x, 'base64url')

/** @param {null} _ @param {Uint8Array} text @param {Uint8Array} key @param {Uint8Array} signature */
export const verify = (_, text, key, signature) => {
  const [r, s] = [signature.subarray(0, 32), littleEndian(signature.subarray(32))]
  const [point, fixed] = [pointOf(key), pointOf(r)]
  if (!point || !fixed || s >= ORDER) return false
  const hashed = new Uint8Array(64 + text.length)
  hashed.set(r)
  hashed.set(key, 32)
  hashed.set(text, 64)
  const factor = littleEndian(sha512(hashed)) % ORDER
  return areEqual(times(BASE, s), add(fixed, times(point, factor)))
}

export const createHash = () => new Sha256()

// ---- Bytes ----

const decoder = new TextDecoder()

/** @type {Record<string, (text: string) => Iterable<number>>} */
const readers = {
  hex: text => (text.match(/[0-9a-fA-F]{2}/g) ?? []).map(pair => Number.parseInt(pair, 16)),
  base64: text => base64(text),
  base64url: text => base64(text),
}

/** Like Node.js, reads both alphabets and stops at a padding. @param {string} text */
const base64 = text => {
  const [digits = ''] = text.replaceAll(/[^A-Za-z0-9+/=_-]/g, '').split('=')
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits
  return Array.from(atob(whole.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0))
}

class Bytes extends Uint8Array {
  /** @override @param {string} [encoding] */
  toString(encoding) {
    if (encoding === 'hex') return Array.from(this, octet => octet.toString(16).padStart(2, '0')).join('')
    if (encoding !== 'base64url') return decoder.decode(this)
    const text = btoa(String.fromCharCode(...this))
    return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  }
}

const Buffer = {
  /** @param {any} value @param {string} [encoding] */
  from(value, encoding) {
    const isText = typeof value === 'string'
    const bytes = isText ? (encoding ? [...(readers[encoding]?.(value) ?? [])] : encoder.encode(value)) : value
    const found = new Bytes(bytes.length)
    found.set(bytes)
    return found
  },
}

/** The program ends here if it was not started from a command line. */
const noFiles = () => {
  throw new Error('browsers have no files')
}
export const readFileSync = noFiles
export const realpathSync = noFiles
export const fileURLToPath = noFiles
export const parseArgs = noFiles

Object.assign(globalThis, { Buffer, process: { argv: [] } })
