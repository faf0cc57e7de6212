import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { RunCompleted } from '../../schemas/account-events.ts'
import { openLmdbEventLogReadOnly } from '../../src/adapters/event-log/lmdb-read-only.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import { type Client, picture, sandbox } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { auditFolder } from '../support/ledger.ts'
import { operatorOf } from '../support/operator.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { openAccounts } from '../support/service.ts'
import { ScriptProcess, ServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong } from '../support/test-length.ts'
import { until } from '../support/until.ts'

t.setTimeout(550_000)

const RESTORES = isLong ? 10 : 2
const CLIENTS = 8

interface Acknowledged {
  runId: string
  position: number
}

/** Runs until its service is killed. */
const work = async (client: Client, acknowledged: Acknowledged[], stop: AbortSignal) => {
  while (!stop.aborted) {
    const reply = await client.run(acknowledged.length % 40 === 0 ? picture : sandbox()).catch(() => undefined)
    if (reply?.status !== 200) return
    acknowledged.push({ runId: reply.body.run_id, position: Number(reply.headers.get('Tollgate-Position')) })
  }
}

const seed = testSeed()
t.test(`a backup under load has all that was acknowledged before its position (TEST_SEED=${seed})`, async t => {
  const random = seededRandom(seed)
  const source = await temporaryFolder(t)
  const target = await temporaryFolder(t)
  const [client] = await openAccounts(source, { credits: 1_000_000, tester: true })
  const acknowledged: Acknowledged[] = []
  let whole = 0
  for (let number = 0; whole < RESTORES; number++) {
    const service = new ServiceProcess(source)
    t.teardown(() => service.end('SIGKILL'))
    const url = await service.listening()
    const before = acknowledged.length
    const stop = new AbortController()
    const working = Array.from({ length: CLIENTS }, () => work(client.at(url), acknowledged, stop.signal))
    await until('runs are acknowledged', () => acknowledged.length > before + CLIENTS)
    const folder = join(target, `backup-${number}`)
    const backup = new ScriptProcess('src/cli.ts', ['backup', folder, '--json'], { DATA_DIR: source })
    // Half of the services are killed before their backup is complete, and some backups are too.
    if (random() < 0.5) await delay(random() * 2000)
    else await backup.ended
    if (random() < 0.2) await backup.end('SIGKILL')
    await service.end('SIGKILL')
    stop.abort()
    await Promise.all(working)
    const { code, stdout, stderr } = await backup.ended
    const restored = join(target, `restored-${number}`)
    const operator = operatorOf(restored)
    if (code !== 0) {
      t.equal(stderr, '')
      t.match(await operator.refused(t, 'restore', folder), 'no complete backup')
      continue
    }
    whole += 1
    const { position, faults } = JSON.parse(stdout)
    t.equal(faults, 0)
    t.match(await operator.json(t, 'restore', folder), { position })
    const audit = await auditFolder(restored)
    t.same(audit.faults, [])
    t.same(await missingFiles(restored), [])
    const [ledger] = audit.ledgers.values()
    const promised = acknowledged.filter(run => run.position <= position)
    t.same(
      promised.filter(({ runId }) => !ledger?.runs.has(runId)),
      [],
    )
    t.ok(promised.length > before)
  }
})

/** The results in a log whose files its folder lacks. */
const missingFiles = async (folder: string): Promise<string[]> => {
  const log = openLmdbEventLogReadOnly(join(folder, 'log'))
  const events = await collect(log.readAll(BEFORE_FIRST)).finally(() => log.close())
  const results = events.filter(({ type }) => type === 'RunCompleted').map(({ data }) => data as RunCompleted)
  const keys = results.flatMap(({ output }) => output.artifacts.map(({ objectKey }) => objectKey))
  return keys.filter(key => !existsSync(join(folder, 'objects', key)))
}
