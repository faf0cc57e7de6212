import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Seal } from '../../schemas/api/seal.ts'
import { SEALS_STREAM } from '../../schemas/events.ts'
import { openLmdbEventLogReadOnly } from '../../src/adapters/event-log/lmdb-read-only.ts'
import { copyOf } from '../../src/services/seals/seals.ts'
import { collect } from '../support/collect.ts'
import { startReceiver, status } from '../support/receiver.ts'
import { seededRandom, testSeed } from '../support/seeded-random.ts'
import { openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

t.setTimeout(280_000)

const kills = 6
const seed = testSeed()

/** A life ends after at most so many runs: enough for some seals and copies, whatever else the machine does. */
const MAX_RUNS = 12

/** Between runs, so that the copies of all lives can be made at the end of the test. */
const PAUSE_MS = 20

t.test(`a service that is killed repeatedly copies each seal, in order (TEST_SEED=${seed})`, async t => {
  const random = seededRandom(seed)
  const [folder, copies] = [await temporaryFolder(t), await temporaryFolder(t)]
  const [customer] = await openAccounts(folder, { credits: 100_000 })
  const path = join(copies, 'seals.jsonl')
  const receiver = await startReceiver(t, (response, delivery) =>
    status(random() < 0.2 ? 503 : 204)(response, delivery),
  )
  const environment = { SEAL_EVENTS: '1', SEAL_SINK: `${path},${receiver.url}`, LOG_LEVEL: 'info' }
  for (let round = 0; round < kills; round++) {
    const service = await startServiceProcess(t, folder, environment)
    const client = customer.at(service.url)
    let answered = 0
    const load = async () => {
      for (;;) {
        await client.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })
        answered += 1
        await delay(PAUSE_MS)
      }
    }
    const loading = load().catch(() => undefined)
    const runs = Math.ceil(random() * MAX_RUNS)
    await until(`${runs} runs`, () => answered >= runs, { pollMs: 5, maxWaitMs: 60_000 })
    await delay(random() * 2 * PAUSE_MS)
    await service.end('SIGKILL')
    await loading
  }

  receiver.answer = status(204)
  const last = await startServiceProcess(t, folder, environment)
  const log = openLmdbEventLogReadOnly(join(folder, 'log'))
  t.teardown(() => log.close())
  const sealed = async () => (await collect(log.readStream(SEALS_STREAM, 0))).flatMap(raw => copyOf(raw) ?? [])
  const linesOf = async () => (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  const posted = () => [...new Set(receiver.deliveries.map(({ body }) => body))]
  const areCopied = async () => {
    const count = (await sealed()).length
    return (await linesOf()).length === count && posted().length === count
  }
  // Rarely, since each look reads all seals.
  await until('all seals are copied', areCopied, { pollMs: 200 })
  await last.end('SIGTERM')
  const expected = (await sealed()).map(({ text }) => text)
  t.ok(expected.length > 10 * kills, `${expected.length} seals`)
  t.same(await linesOf(), expected)
  const received = posted().map(body => (JSON.parse(body) as Seal).number)
  t.same(
    received,
    received.toSorted((one, other) => one - other),
  )
  for (const { headers, body } of receiver.deliveries) t.equal(headers['idempotency-key'], JSON.parse(body).name)
})
