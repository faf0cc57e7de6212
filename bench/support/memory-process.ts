import { readFileSync } from 'node:fs'
import { openCore } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { fillLog } from './fill.ts'

const runs = Number(process.argv[2])
const core = await openCore(readConfig(process.env))
await fillLog(core.log, { runs, accounts: 1000 })
await core.progress.passed(await core.log.head(), 600_000)

const status = readFileSync('/proc/self/status', 'utf8')
const bytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024
process.on('message', () => core.close().then(() => process.exit(0)))
process.send?.({ runs, ownBytes: bytes('RssAnon'), residentBytes: bytes('VmRSS') })
