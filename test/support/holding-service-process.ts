import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { openCore } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startServer } from '../../src/boot/server.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import { accountsOn } from './engine.ts'
import { readsOf } from './views.ts'

// The service as a separate process that hangs at HOLD_AT and prints it: "before" or "after" an event's type, or the
// link, rename or unlink of a file of an upload or a result.
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

const namesOf = (operation: string, path: unknown) => (/\/(uploads|outputs)\//.test(String(path)) ? [operation] : [])
const { link, rename, unlink } = fs
Object.assign(fs, {
  link: (...paths: Parameters<typeof link>) => holding(namesOf('link', paths[1]), () => link(...paths)),
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
const accounts = accountsOn(log, core.clock)
const reads = readsOf(core.views, core.progress, accounts)
const server = await startServer({ ...core, log, accounts, reads })
core.logger.info({ url: server.url }, 'listening')
