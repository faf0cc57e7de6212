import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Seal } from '../../schemas/api/seal.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const environment = { SEAL_EVENTS: '1' }

/** The files and folders of `DATA_DIR` that the documentation lists. */
const documented = async (): Promise<string[]> => {
  const text = await readFile('docs/operations.md', 'utf8')
  const sentence = /With the embedded stores, stop the service and copy ([^.]+(?:\.pem)?`)\./s.exec(text)?.[1] ?? ''
  return [...sentence.matchAll(/`DATA_DIR\/([\w.-]+)`/g)].flatMap(([, name]) => name ?? [])
}

const newestSeal = async (customer: Pick<Customer, 'send'>, after = -1) =>
  until('a seal', async () => {
    const { status, body } = await customer.send<Seal>('/v1/ledger/seal')
    return status === 200 && body.number > after && body
  })

t.test('a service restored from the documented files has its accounts, and seals its log again', async t => {
  const folder = await temporaryFolder(t)
  const first = await startService(t, { folder, environment })
  const customer = await openAccount(first)
  const { number, data } = await newestSeal(customer)
  await first.stop()

  const restored = await temporaryFolder(t)
  const names = await documented()
  t.ok(names.length > 3)
  for (const name of names) await cp(join(folder, name), join(restored, name), { recursive: true })
  const service = await startService(t, { folder: restored, environment })
  const again = service.client(customer.apiKey)
  t.equal((await again.send('/v1/balance')).status, 200)
  await openAccount(service)
  const next = await newestSeal(again, number)
  t.equal(next.data.keyId, data.keyId)
})
