import t, { type Test } from 'tap'
import { runKey } from '../../../projections/runs.ts'
import { uploadKey } from '../../../projections/uploads.ts'
import type { RunId, UploadId } from '../../../schemas/primitives.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { cellsOf, forgeCells } from '../../support/dump.ts'
import { auditFolder } from '../../support/ledger.ts'
import { startReceiver } from '../../support/receiver.ts'
import { needsRedis, startRedis } from '../../support/redis-server.ts'
import { type Customer, openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

// The attacker can write to the views but has neither the log nor the secrets, and copies and changes rows.

/** Answers at once, except to prompts that ask it to hang. */
const seen: unknown[] = []
const provider: Provider = {
  submit: async ({ input }) => {
    seen.push(input)
    return input['prompt'] === 'hang' ? new Promise(() => undefined) : { kind: 'done', media: [], text: 'done' }
  },
}

const text = (prompt: string) => ({ model: 'claude-haiku-4-5', input: { prompt } })

const upload = async (customer: Customer): Promise<{ id: UploadId; url: string }> => {
  const form = new FormData()
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  form.append('file', new Blob([png], { type: 'image/png' }), 'lake.png')
  const headers = { Authorization: `Bearer ${customer.apiKey}` }
  const answer = await fetch(`${customer.url}/v1/uploads`, { method: 'POST', headers, body: form })
  return (await answer.json()) as { id: UploadId; url: string }
}

const attack = async (t: Test, environment: Record<string, string>) => {
  const folder = await temporaryFolder(t)
  const receiver = await startReceiver(t)
  const settings = { ALLOW_PRIVATE_WEBHOOKS: 'true', ...environment }
  const service = await startService(t, { folder, environment: settings, providers: { sandbox: provider } })
  const [alice, mallory] = [await openAccount(service), await openAccount(service)]
  const webhook = { webhook_url: `${receiver.url}alice` }
  const run = (await alice.run({ ...text('a secret of Alice'), ...webhook }, { 'Idempotency-Key': 'once' })).body
  const own = (await mallory.run(text('mine'))).body
  await receiver.until(1)
  const [file, ownFile] = [await upload(alice), await upload(mallory)]
  const balances = () => Promise.all([alice.balance(), mallory.balance()])
  const before = await balances()
  await service.core.progress.passed(await service.core.log.head(), 10_000)
  const runs = { alice: runKey(alice.accountId, run.run_id), mallory: runKey(mallory.accountId, own.run_id as RunId) }
  const malloryKey = sha256(mallory.apiKey)

  const cells = await cellsOf(service.core.views)
  const forgeries = () => {
    const copy = (from: string, to: string, change: (row: Record<string, unknown>) => object = row => row) => ({
      address: to,
      value: JSON.stringify(change(JSON.parse(cells.get(from) ?? '{}'))),
    })
    const change = (address: string, changes: object) => copy(address, address, row => ({ ...row, ...changes }))
    const uploads = { alice: uploadKey(alice.accountId, file.id), mallory: uploadKey(mallory.accountId, ownFile.id) }
    const statement = [...cells.keys()].find(address => address.startsWith(`rows/statement/${mallory.accountId}`)) ?? ''
    const due = {
      task: 'start-run',
      queue: 'start/claude-haiku-4-5-t2t',
      dueAt: '2026-01-01T00:00:00.000Z',
      accountId: mallory.accountId,
      runId: own.run_id,
      endpoint: 'claude-haiku-4-5-t2t',
      mode: 'sync',
      timeoutMs: 60_000,
      input: { prompt: 'forged' },
    }
    const delivery = { task: 'deliver-webhook', queue: 'deliver/x', url: `${receiver.url}mallory`, attempt: 1 }
    return [
      // Mallory's key becomes Alice's, Alice's run and upload become Mallory's, and Mallory becomes rich and gets an address.
      change(`rows/keys/${malloryKey}`, { accountId: alice.accountId }),
      copy(`rows/runs/${runs.alice}`, `rows/runs/${runs.mallory}`),
      copy(`rows/uploads/${uploads.alice}`, `rows/uploads/${uploads.mallory}`),
      change(`rows/balance/${mallory.accountId}`, { balanceMicros: 10 ** 12 }),
      change(`rows/accounts/${mallory.accountId}`, { email: 'mallory@example.com' }),
      change(statement, { amountMicros: 10 ** 12 }),
      copy(`rows/webhooks/${runs.alice}`, `rows/webhooks/${runs.alice}`, row => ({ ...row, url: delivery.url })),
      { address: `rows/due/${own.run_id}`, value: JSON.stringify(due) },
      { address: `index/due.byQueue/start/claude-haiku-4-5-t2t/${due.dueAt}/${own.run_id}`, value: own.run_id },
      { address: `rows/due/${run.run_id}`, value: JSON.stringify({ ...due, ...delivery, runId: run.run_id }) },
      { address: `index/due.byQueue/deliver/x/${due.dueAt}/${run.run_id}`, value: run.run_id },
      // An index entry in the wrong place that points to a row with a valid MAC.
      { address: `index/uploads.byObject/uploads/${'0'.repeat(32)}.png`, value: uploads.alice },
    ]
  }
  await forgeCells(service.core.views, forgeries())
  // From here on nothing may be answered from memory.
  await service.core.progress.reached()

  const { status } = await mallory.send(`/v1/runs/${run.run_id}`)
  t.ok([401, 404, 503].includes(status), `Alice's run is not shown to Mallory (${status})`)
  const stolen = await mallory.send(`/v1/runs/${own.run_id}`)
  t.notMatch(stolen.text, run.run_id, 'nor in place of his own')
  t.notMatch((await mallory.send('/v1/uploads')).text, file.url, "nor is Alice's upload")
  t.notMatch((await mallory.send(`/v1/uploads/${ownFile.id}`)).text, file.url)
  t.notMatch((await mallory.send('/v1/models')).text, '"sandbox"', 'nor are test models')
  const replay = await alice.run({ ...text('a secret of Alice'), ...webhook }, { 'Idempotency-Key': 'once' })
  t.ok([200, 503].includes(replay.status), 'a repeated request is not charged again')
  const reads = service.core.reads
  for (const view of ['statement', 'webhooks', 'accounts'] as const) {
    const rows = await reads.list(view, 'key', { prefix: '', limit: 100 })
    t.notMatch(JSON.stringify(rows), /1000000000000|mallory/, `${view} shows nothing forged`)
  }

  // The views are rebuilt and correct again.
  const isRepaired = async () =>
    (await Promise.all([mallory, alice].map(each => each.send('/v1/runs')))).every(({ status }) => status === 200) &&
    (await mallory.send(`/v1/runs/${own.run_id}`)).status === 200 &&
    (await mallory.send(`/v1/uploads/${ownFile.id}`)).status === 200
  await until('the views are rebuilt', isRepaired, { pollMs: 50 })
  t.same(await balances(), before)
  t.equal((await mallory.send<{ run_id: string }>(`/v1/runs/${own.run_id}`)).body.run_id, own.run_id)
  t.notMatch(seen, [{ prompt: 'forged' }], 'no provider got forged work')
  t.same(new Set(receiver.deliveries.map(({ path }) => path)), new Set(['/alice']), 'no other receiver got a webhook')
  await service.stop()
  t.same((await auditFolder(folder, environment)).faults, [])
}

t.test('forged rows in LMDB lead to no charge, no refund and no access', t => attack(t, {}))

t.test('forged rows in Redis lead to no charge, no refund and no access', needsRedis(), async t => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  await attack(t, { VIEW_STORE_URL: redis.url })
})
