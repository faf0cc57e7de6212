import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { readConfig } from '../../src/boot/config.ts'
import { openCore } from '../../src/boot/core.ts'
import { startServer } from '../../src/boot/server.ts'
import { Reads } from '../../src/engine/views/reads.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { Accounts } from '../../src/services/accounts/accounts.ts'
import { accountSnapshots } from '../../src/services/accounts/snapshots.ts'

// The service as a process of its own that stands still for good when it comes to HOLD_AT, and says that it is there:
// "before" or "after" an event's type, or the rename or the unlink of an upload's file.
const holdAt = process.env['HOLD_AT']

const reach = async (moment: string) => {
  if (moment !== holdAt) return
  console.log(`held ${moment}`)
  await new Promise(() => undefined)
}

const holding = async <Result>(names: string[], act: () => Promise<Result>): Promise<Result> => {
  for (const name of names) await reach(`before ${name}`)
  const result = await act()
  for (const name of names) await reach(`after ${name}`)
  return result
}

const namesOf = (operation: string, path: unknown) => (String(path).includes('/uploads/') ? [operation] : [])
const { rename, unlink } = fs
Object.assign(fs, {
  rename: (...paths: Parameters<typeof rename>) => holding(namesOf('rename', paths[1]), () => rename(...paths)),
  unlink: (path: string) => holding(namesOf('unlink', path), () => unlink(path)),
})
syncBuiltinESMExports()

const core = await openCore(readConfig(process.env))
const log: EventLog = {
  ...core.log,
  append: (stream, events, expectedRevision) =>
    holding(
      events.map(({ type }) => type),
      () => core.log.append(stream, events, expectedRevision),
    ),
}
const accounts = new Accounts(log, accountSnapshots(core.views), core.clock)
const reads = new Reads(core.views, core.progress, accounts)
const server = await startServer({ ...core, log, accounts, reads })
core.logger.info({ url: server.url }, 'listening')
