import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Position } from '../../schemas/recorded.ts'
import { systemClock as clock } from '../adapters/clock/system.ts'
import { Signal } from '../adapters/event-log/signal.ts'
import { createLogger } from '../adapters/logger/pino.ts'
import { Projector } from '../engine/views/projector.ts'
import { type Changes, ViewProgress } from '../engine/views/view-progress.ts'
import { eventCodec, newerEvents } from '../services/event-codec.ts'
import { decryptedLog } from '../services/vault/decrypted-log.ts'
import { openProjections } from './projections.ts'
import type { ProjectorMessage, ProjectorOrder, ProjectorReport } from './projector-thread.ts'
import { openLog, openVault, openViews } from './stores.ts'

// The program of the projector's thread. It opens the stores for itself, follows the log, and reports each commit.

const order = workerData as ProjectorOrder
const { eventStore, viewStore, logLevel, masterSecret } = order
const port = parentPort as MessagePort
const report = (message: ProjectorReport) => port.postMessage(message)

/** Readers and caches need only the addresses of rows. The due loops also need the due rows. */
const addressesAndDueRows = (changes: Changes): Changes =>
  changes === 'unknown' ? changes : changes.map(({ view, key, row }) => ({ view, key, ...(view === 'due' && { row }) }))

const logger = createLogger(logLevel)
const appended = new Signal<Position>()
const vault = openVault(order, logger, masterSecret)
const log = decryptedLog(await openLog({ eventStore }, logger, appended), vault)
const { projections, authenticate, openScratch } = openProjections(order)
const store = authenticate(await openViews({ viewStore }, logger), forged => report({ forged }))
const progress = new ViewProgress({ log, store, projections, clock })
const { rebuildsFirst } = order
const parts = { log, codec: eventCodec, store, projections, progress, clock, logger, openScratch, rebuildsFirst }
const projector = new Projector(parts)
progress.changes.subscribe(changes => report({ state: progress.state, changes: addressesAndDueRows(changes) }))

const fail = (error: Error): never => {
  throw error
}

const stop = async () => {
  await projector.stop()
  await progress.close()
  await store.close()
  await log.close()
  await vault.close()
  port.close()
}

port.on('message', (message: ProjectorMessage) => {
  if (message === 'stop') stop()
  else if ('appended' in message) appended.emit(message.appended)
  else progress.whenPassed(message.awaited)
})
await projector.start()
// Outside the projector, which retries after its own errors: the error ends the thread, and so the process.
newerEvents.subscribe(error => process.nextTick(() => fail(error)))
report('started')
