import t from 'tap'
import { AUDITORS_STREAM } from '../../schemas/events.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { collect } from '../support/collect.ts'
import { operatorOf } from '../support/operator.ts'
import { openFolder } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Created {
  auditor_id: string
  name: string
  api_key: string
}

const given = async () => {
  const folder = await temporaryFolder(t)
  const operator = operatorOf(folder)
  const create = (name: string, ...args: string[]) =>
    operator.json<Created>(t, 'auditors', 'create', '--name', name, ...args)
  return { folder, operator, create }
}

t.test('auditors create, list and revoke: the log has the hash and the operator, and never the key', async t => {
  const { folder, operator, create } = await given()
  const created = await create('ada', '--as', 'olga')
  t.match(created, { auditor_id: /^aud_/, name: 'ada', api_key: /^tg_ak_[0-9a-f]{32}$/ })
  const lastFour = created.api_key.slice(-4)
  const shown = {
    auditor_id: created.auditor_id,
    name: 'ada',
    last_four: lastFour,
    created_at: String,
    revoked_at: null,
  }
  t.match(await operator.json(t, 'auditors', 'list'), [shown])

  const revoked = { auditor_id: created.auditor_id, revoked: true }
  t.same(await operator.json(t, 'auditors', 'revoke', created.auditor_id, '--as', 'otto'), revoked)
  t.match(await operator.json(t, 'auditors', 'list'), [{ ...shown, revoked_at: /^2/ }])
  t.match(await operator.refused(t, 'auditors', 'revoke', created.auditor_id), /no such active auditor/)

  const core = await openFolder(folder)
  t.teardown(() => core.close())
  const events = await collect(core.log.readStream(AUDITORS_STREAM, 0))
  t.match(events, [
    {
      type: 'AuditorKeyCreated',
      data: { auditorId: created.auditor_id, name: 'ada', hash: sha256(created.api_key), lastFour },
      metadata: { actor: { kind: 'operator', name: 'olga' } },
    },
    { type: 'AuditorKeyRevoked', metadata: { actor: { kind: 'operator', name: 'otto' } } },
  ])
  t.notMatch(JSON.stringify(events), created.api_key)
})

t.test('auditors revoke --name: the active auditor with the name, which is free again', async t => {
  const { operator, create } = await given()
  const first = await create('ada')
  t.match(await operator.refused(t, 'auditors', 'create', '--name', 'ada'), /already is an auditor "ada"/)
  t.match(await operator.json(t, 'auditors', 'revoke', '--name', 'ada'), { auditor_id: first.auditor_id })
  t.match(await operator.refused(t, 'auditors', 'revoke', '--name', 'ada'), /no such active auditor/)
  const second = await create('ada')
  await create('bob')
  t.match(await operator.json(t, 'auditors', 'list', '--name', 'ada'), [
    { auditor_id: first.auditor_id, revoked_at: /^2/ },
    { auditor_id: second.auditor_id, revoked_at: null },
  ])
})

t.test('auditors: text without --json, and clear refusals', async t => {
  const { operator, create } = await given()
  t.match(await operator.text(t, 'auditors', 'list'), /There are no auditors/)
  t.match(await operator.text(t, 'auditors', 'create', '--name', 'bob'), /api key +tg_ak_/)
  const { auditor_id } = await create('ada')
  for (const args of [['revoke'], ['revoke', auditor_id, '--name', 'ada']])
    t.match(await operator.refused(t, 'auditors', ...args), /Name one auditor/)
  for (const name of ['', ' ', 'x'.repeat(65), 'a\u202eb'])
    t.match(await operator.refused(t, 'auditors', 'create', '--name', name), /name of an auditor must have 1 to 64/)
  t.match(await operator.text(t, 'auditors', 'revoke', '--name', 'ada'), /revoked +true/)
})
