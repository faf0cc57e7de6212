import t from 'tap'
import { emailIdentity } from '../../../src/domain/login/identity.ts'

const addressOf = (text: string) => emailIdentity(text)?.address

t.test('spellings that reach the same mailbox are one identity', async t => {
  const spellings = {
    'ada@example.com': [
      'ADA@Example.COM',
      ' ada@example.com\n',
      'ada@example.com.',
      'ada@example。com',
      'ada@ｅxample.com',
    ],
    'ada@xn--bcher-kva.example': ['ada@bücher.example', 'ada@BÜCHER.example', 'ada@bu\u0308cher.example'],
    'z\u00fcrich@example.com': ['zu\u0308rich@example.com', 'ZÜRICH@example.com'],
  }
  for (const [address, others] of Object.entries(spellings))
    for (const text of [address, ...others]) t.equal(addressOf(text), address, JSON.stringify(text))
})

t.test('other mailboxes are other identities', async t => {
  for (const address of ['ada+1@example.com', 'a.d.a@example.com', "o'hara@example.com", 'root@mail', '山@example.com'])
    t.equal(addressOf(address), address)
})

t.test('an address has one spelling, no route and no second line', async t => {
  for (const text of [
    ...['', 'ada', '@example.com', 'ada@', 'ada@@example.com', 'ada@a@example.com', 'ada eve@example.com'],
    ...['"ada"@example.com', 'ada(1)@example.com', 'ada,eve@example.com', 'ada;@example.com', '<ada@example.com>'],
    ...['evil%evil.example@example.com', 'evil.example!evil@example.com', 'ada\\@example.com'],
    ...['ada@example.com\r\nBcc: eve', 'ada\r\n@example.com', 'ada\0@example.com', 'ada\u202e@example.com'],
    ...['ada@exam\u200bple.com', 'ada@ex%61mple.com', 'ada@example.com/x', 'ada@example.com?x', 'ada@example.com#x'],
    ...['ada@example.com:25', 'ada@[127.0.0.1]', 'ada@127.0.0.1', 'ada@0x7f.1', 'ada@2130706433', 'ada@example..com'],
    ...[
      'ada@.example.com',
      'ada@.',
      'ada@example.com..',
      'ada@exa,mple.com',
      'ada@exa(mple.com',
      `${'a'.repeat(250)}@b.co`,
    ],
  ])
    t.equal(addressOf(text), undefined, JSON.stringify(text))
})
