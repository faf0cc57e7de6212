import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLmdbEventLogReadOnly } from '../../src/adapters/event-log/lmdb-read-only.ts'
import { verifyLog } from '../../src/audit/verify/verify.ts'

/** Verifies the log of a folder, and says how much memory that took. */
const [folder = ''] = process.argv.slice(2)
const log = openLmdbEventLogReadOnly(join(folder, 'log'))
const { events = 0, faults = [] } = (await verifyLog(log, { isDense: true })) ?? {}
if (faults.length > 0) throw new Error(`${faults.length} faults: ${JSON.stringify(faults[0])}`)
await log.close()

const [, peakKilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
process.on('message', () => process.exit(0))
process.send?.({ events, peakResidentBytes: Number(peakKilobytes) * 1024 })
