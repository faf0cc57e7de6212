import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { open } from 'lmdb'
import type { Entry, Event } from './floor-server.ts'

/**
 * The views of `floor-server`, in a worker that follows the log. Rows and checkpoint are written in one transaction, so
 * that views that were lost or are behind are made again. Each row has a MAC over its address and text.
 */
const [folder = ''] = process.argv.slice(2)
const MAC_KEY = 'a server of customers reads this from its environment'

/** Rows that many runs share are written once for all runs of this time. */
const PAUSE_MS = 20
const PAGE = 1_000

const log = open<string, number>({
  ...{ path: join(folder, 'log'), encoding: 'string', keyEncoding: 'uint32', overlappingSync: false },
})
const views = open<string, string>({ path: join(folder, 'views'), encoding: 'string' })

type Row = Record<string, unknown>

/** The rows of a page, until they are written. */
const rows = new Map<string, Row>()

const macOf = (address: string, text: string) =>
  createHmac('sha256', MAC_KEY).update(`${address} ${text}`).digest('base64url')

const read = (address: string): Row => {
  const known = rows.get(address)
  if (known) return known
  const stored = views.get(address)
  if (stored === undefined) return {}
  const at = stored.indexOf(' ')
  const text = stored.slice(at + 1)
  if (macOf(address, text) !== stored.slice(0, at)) throw new Error(`the row ${address} is not ours`)
  return JSON.parse(text)
}

const change = (address: string, changed: Row) => rows.set(address, { ...read(address), ...changed })

const add = (address: string, amounts: Record<string, number>) => {
  const row = read(address)
  for (const [name, amount] of Object.entries(amounts)) row[name] = Number(row[name] ?? 0) + amount
  rows.set(address, row)
}

const project = ({ type, data, stream, revision, at }: Event) => {
  const [month, day] = [at.slice(0, 7), at.slice(0, 10)]
  if ('balanceAfterMicros' in data) change(`balance/${stream}`, { balanceMicros: data.balanceAfterMicros, at })
  switch (type) {
    case 'CreditsDebited':
    case 'CreditsRefunded':
      change(`ledger/${stream}/${String(revision).padStart(10, '0')}`, { type, ...data, at })
      add(`statement/${stream}/${month}`, { [type]: data.amountMicros })
      break
    case 'RunStarted':
      change(`run/${data.runId}`, { ...data, status: 'processing', startedAt: at })
      change(`runs/${stream}/${at}/${data.runId}`, { runId: data.runId })
      break
    case 'RunCompleted':
      change(`run/${data.runId}`, { ...data, status: 'completed', endedAt: at })
      add(`usage/${stream}/${day}`, { runs: 1, costMicros: data.costMicros })
      break
    case 'RunFailed':
      change(`run/${data.runId}`, { ...data, status: 'failed', endedAt: at })
  }
}

for (let next = Number(read('checkpoint')['next'] ?? 0); ; await delay(PAUSE_MS)) {
  log.resetReadTxn()
  for (const { key, value } of log.getRange({ start: next, limit: PAGE })) {
    for (const { event } of JSON.parse(value) as Entry) project(event)
    next = key + 1
  }
  if (rows.size === 0) continue
  rows.set('checkpoint', { next })
  // Writes of one turn are one transaction.
  const written = [...rows].map(([address, row]) => {
    const text = JSON.stringify(row)
    return views.put(address, `${macOf(address, text)} ${text}`)
  })
  rows.clear()
  await written.at(-1)
}
