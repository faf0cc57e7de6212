import { randomUUID } from 'node:crypto'
import { type NewEvent, NO_STREAM } from '../../src/ports/event-log.ts'
import type { Measurement } from './compare.ts'
import { measureOwnCpu } from './cpu.ts'
import { openTollgate, openVendor } from './event-store-sides.ts'
import { debited } from './samples.ts'

/** A command for this process. */
export type Job =
  | { type: 'append'; writers: number; appends: number }
  | { type: 'mark' }
  | { type: 'replay'; atLeast: number }

const url = process.env['EVENT_STORE_URL'] ?? ''
const side = process.argv[2] === 'vendor' ? openVendor(url) : openTollgate(url)

const append = ({ writers, appends }: { writers: number; appends: number }): Promise<Measurement> => {
  const events = Array.from({ length: appends }, (): NewEvent => ({ id: randomUUID(), ...debited() }))
  const names = Array.from({ length: writers }, () => `account-${randomUUID()}`)
  let next = 0
  const write = async (name: string) => {
    let revision = NO_STREAM
    for (let event = events[next++]; event; event = events[next++]) revision = await side.append(name, event, revision)
  }
  return measureOwnCpu(async () => {
    await Promise.all(names.map(write))
    return appends
  })
}

const replay = ({ atLeast }: { atLeast: number }): Promise<Measurement> =>
  measureOwnCpu(async () => {
    const events = await side.replay()
    if (events < atLeast) throw new Error(`${events} events were delivered instead of ${atLeast}`)
    return events
  })

const perform = async (job: Job): Promise<Measurement | null> => {
  if (job.type === 'append') return append(job)
  if (job.type === 'replay') return replay(job)
  await side.mark()
  return null
}

process.on('message', async (message: Job | 'stop') => {
  if (message !== 'stop') return process.send?.(await perform(message))
  await side.close()
  process.exit(0)
})
// Do not outlive a failed benchmark.
process.once('disconnect', () => process.exit(1))
process.send?.('ready')
