import t from 'tap'
import type { Notice } from '../../schemas/notice-events.ts'
import type { KeyId } from '../../schemas/primitives.ts'
import { noticeMail } from '../../src/services/notices/notice-messages.ts'
import * as messages from '../../src/services/sign-in/code-messages.ts'

const facts = { to: 'ada@example.com', brand: { name: 'Acme' }, publicUrl: 'https://acme.example' }
const code = { ...facts, code: 'BCDF-GHJK' }

const at = '2026-12-01T00:00:00.000Z'
const keyId = 'key_01m7z4hp40enbs019v3tcadvdx' as KeyId
const budget = { keyId, budgetPeriod: '2026-11-01', spentMicros: 8, budgetMicros: 10, renewsAt: at }
const notices: Notice[] = [
  { kind: 'balance_low', balanceMicros: 1, underMicros: 2 },
  { kind: 'budget_warning', ...budget },
  { kind: 'budget_exhausted', ...budget },
  { kind: 'key_expiring', keyId, expiresAt: at },
  { kind: 'model_retiring', model: 'lumen', endpoints: ['lumen-t2i'], retiresAt: at, days: 30 },
]

t.test('the subject of each mail to a customer names the service, and no mail names Tollgate', async t => {
  const all = [
    messages.signInMessage(code),
    messages.linkMessage(code),
    messages.confirmMessage(code),
    messages.linkedMessage({ ...facts, added: 'eve@example.com' }),
    messages.sessionsEndedMessage(facts),
    messages.invitationMessage(facts),
    ...notices.map(notice => noticeMail({ ...facts, notice, keyName: '"laptop"' })),
  ]
  for (const { subject, text } of all) {
    t.match(subject, /\bAcme\b/)
    t.notMatch(subject + text, /Tollgate/i, subject)
    t.ok(
      text.split('\n').every(line => line.length < 100),
      'no mail program breaks its lines',
    )
  }
})
