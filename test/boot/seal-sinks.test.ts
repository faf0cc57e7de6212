import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readSealFile } from '../../src/audit/kept-seals.ts'
import { ConfigError } from '../../src/boot/config.ts'
import { startServer } from '../../src/boot/server.ts'
import { openAccount, openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const startWith = async (t: Test, environment: Record<string, string>) => {
  const core = await openFolder(await temporaryFolder(t), { environment })
  t.teardown(() => core.close())
  return startServer(core)
}

t.test('a file that cannot be used ends the start', async t => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'notes'), 'hello\n')
  for (const [sink, fault] of [
    [join(folder, 'missing', 'seals.jsonl'), /no such file/],
    [folder, /EISDIR/],
    [join(folder, 'notes'), /does not end with a seal/],
  ] as const) {
    const failure = await startWith(t, { SEAL_SINK: sink }).catch(error => error)
    t.ok(failure instanceof ConfigError, sink)
    t.match(failure.message, fault)
    t.match(failure.message, /^SEAL_SINK names a file that cannot be used/)
  }
})

t.test('a process that does not seal copies no seals', async t => {
  const sink = join(await temporaryFolder(t), 'missing', 'seals.jsonl')
  await startService(t, { environment: { SEAL_SINK: sink, ROLES: 'api,projector,reactors' } })
})

t.test('a receiver that is down holds up neither requests nor seals nor other sinks', async t => {
  const path = join(await temporaryFolder(t), 'seals.jsonl')
  const environment = { SEAL_SINK: `http://127.0.0.1:1/x,${path}`, SEAL_EVENTS: '1' }
  const service = await startService(t, { environment })
  const customer = await openAccount(service)
  const header = await until('a seal is named', async () =>
    (await customer.send('/v1/balance')).headers.get('Tollgate-Seal'),
  )
  const seals = await until('it is in the file', async () => {
    const seals = await readSealFile(path, new Map()).catch(() => [])
    return seals.some(({ name }) => name === header) && seals
  })
  t.ok(seals.length > 0)
  t.equal((await customer.send('/readyz')).status, 200)
})
