// Checks the ledger of an account in a worker: with the program that customers run on their own, event by event, while
// the proof arrives.
import { ChainCheck, check, parseKeys, StatementCheck, Wrong } from './verify.js'

/** @typedef {{ revision: number, change: number, after: number }} Line A line of the page, in microcredits. */
/** @typedef {{ proof: string, chain: string, keys: string, consistency: string, lines: Line[], kept: string | null }} Order */

/** The end of the first line of the proof. */
const HEAD_END = ',"events":['

const TELL_EVERY_MS = 100

/** @param {string} url */
const load = async url => {
  const answer = await fetch(url, { headers: { accept: 'application/json' }, cache: 'no-store' })
  if (answer.ok) return answer
  const body = await answer.json().catch(() => ({}))
  const message = body.error?.message ?? `The service answered with ${answer.status}.`
  throw Object.assign(new Error(message), { code: body.error?.code })
}

/** The lines of a text that is still arriving. @param {ReadableStream<Uint8Array>} body */
async function* linesOf(body) {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    const parts = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
    // What follows the last end of a line has not arrived whole.
    if (done) return
  }
}

/** What is shown must be what is sealed. @param {Line[]} lines */
const comparisonOf = lines => {
  const open = new Map(lines.map(line => [line.revision, line]))
  let compared = 0
  return {
    /** @param {Line} move */
    take({ revision, change, after }) {
      const line = open.get(revision)
      if (!line) return
      open.delete(revision)
      compared += 1
      if (line.change !== change || line.after !== after)
        throw new Wrong(`this page shows another amount or balance for event ${revision} than the event has`)
    },
    /** @param {number} last */
    end(last) {
      for (const revision of open.keys())
        if (revision <= last) throw new Wrong(`this page shows event ${revision}, and no event with it moved credits`)
      return compared
    },
  }
}

/** @param {Order} order */
const checkLedger = async ({ proof, chain, keys: keysUrl, consistency, lines, kept }) => {
  const answer = await load(proof).catch(error => {
    if (error.code !== 'not_sealed') throw error
  })
  if (!answer) {
    const { of, balance, agreed } = await checkEvents(await load(chain), lines, text => new ChainCheck(text))
    return { checked: of.last + 1, openedAt: of.at, balance, prices: of.events.prices, agreed }
  }
  const keys = parseKeys(await (await load(keysUrl)).text())
  const { of, balance, agreed } = await checkEvents(answer, lines, text => new StatementCheck(text, keys))
  if (kept !== null) await follow(kept, of.seal, consistency, keys)
  return { checked: of.last + 1, seal: of.seal, balance, prices: of.events.prices, agreed, kept }
}

/**
 * Checks the events while they arrive. `open` begins the check with all but the events.
 * @template {StatementCheck | ChainCheck} Check
 * @param {Response} answer @param {Line[]} lines @param {(text: string) => Check} open
 */
const checkEvents = async ({ body }, lines, open) => {
  if (!body) throw new Error('The proof is empty.')
  const compared = comparisonOf(lines)
  /** @type {Check | undefined} */
  let of
  let isWhole = false
  let toldAt = 0
  for await (const line of linesOf(body)) {
    if (!of) {
      if (!line.endsWith(HEAD_END)) throw new Wrong('the proof is not in the documented form')
      of = open(`${line.slice(0, -HEAD_END.length)}}`)
    } else if (line === ']}') isWhole = true
    else {
      const move = of.take(line.replace(/,$/, ''))
      if (move) compared.take(move)
      const now = performance.now()
      if (now - toldAt < TELL_EVERY_MS) continue
      toldAt = now
      postMessage({ progress: { checked: of.events.revision, of: of.last + 1 } })
    }
  }
  if (!of || !isWhole) throw new Error('The proof broke off. Try again.')
  const balance = of.end()
  return { of, balance, agreed: compared.end(of.last) }
}

/**
 * The newest seal continues the one that this browser kept, so nothing was rewritten since.
 * @param {string} kept @param {{ number: number, name: string }} seal @param {string} url
 * @param {import('./verify.js').Keys} keys
 */
const follow = async (kept, seal, url, keys) => {
  const number = Number.parseInt(kept, 10)
  if (kept === seal.name) return
  const before = `this browser kept the seal ${kept}`
  if (number >= seal.number) throw new Wrong(`${before}, and the newest seal is now ${seal.name}`)
  const proof = await (await load(`${url}?from=${number}&to=${seal.number}`)).text()
  try {
    check(proof, keys, kept)
    check(proof, keys, seal.name)
  } catch (error) {
    throw new Wrong(`${before}, which the log does not continue: ${/** @type {Error} */ (error).message}`)
  }
}

addEventListener('message', async ({ data }) => {
  try {
    postMessage({ found: await checkLedger(data) })
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    postMessage(error instanceof Wrong ? { wrong: message } : { failed: message })
  }
})
