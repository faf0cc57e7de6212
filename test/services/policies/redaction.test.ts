import t from 'tap'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { Caller } from '../../../src/services/caller.ts'
import { isSeenWhole } from '../../../src/services/policies/redaction.ts'

const accountId = 'acct_01m820b9ztfvgrrk74p12fwn4g'
const key = (scope: KeyScope): Caller => ({ kind: 'key', accountId, keyId: 'key_01m820ba07fvgrrk7w4esdp1qc', scope })
const session: Caller = { kind: 'session', accountId, sessionId: 'sess_01m820ba07fvgrrk7w4esdp1qc' }

t.test('a read key sees no event whole that holds an address that it may not see', async t => {
  const address = 'https://hooks.example/in'
  const input = { prompt: 'What is this?', image_url: address }
  for (const [isSeen, type, data] of [
    [true, 'RunQueued', { input, webhookUrl: address }],
    [false, 'RunQueued', { input, webhookUrl: `${address}?token=1` }],
    [false, 'RunQueued', { input: { image_url: `${address}#token` } }],
    [false, 'RunQueued', { input: { prompt: `Like ${address}?token=1 in oil` } }],
    [true, 'WebhookRedeliveryRequested', { url: address }],
    [false, 'WebhookRedeliveryRequested', { url: `${address}?token=1` }],
    [false, 'WebhookTestRequested', { url: `${address}?token=1` }],
    [true, 'NoticesSet', { email: true, balanceUnderMicros: 1 }],
    [false, 'NoticesSet', { email: true, url: address, balanceUnderMicros: 1 }],
    [false, 'AccountOpened', { notices: { email: true, url: address, balanceUnderMicros: 1 } }],
    [false, 'NoticeRaised', { to: { url: address } }],
    [true, 'NoticeRaised', { to: { email: true } }],
    // Lists show these to every key.
    [true, 'CreditsDebited', { label: `${address}?token=1`, amountMicros: 1 }],
    [true, 'CreditsGranted', { reason: `see ${address}?token=1` }],
  ] as const) {
    const event = { type, data } as unknown as RawEvent
    t.equal(isSeenWhole(key('read'), event), isSeen, `${type} ${JSON.stringify(data)}`)
    for (const caller of [key('full'), session]) t.equal(isSeenWhole(caller, event), true, caller.kind)
  }
})
