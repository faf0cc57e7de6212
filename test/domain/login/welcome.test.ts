import t from 'tap'
import type { EmailIdentity } from '../../../schemas/identity.ts'
import { canonicalOf } from '../../../src/domain/login/welcome.ts'

const canonical = (address: string) => (canonicalOf({ kind: 'email', address }) as EmailIdentity).address

t.test('spellings of one mailbox are one identity for the welcome', async t => {
  for (const address of ['ada@gmail.com', 'a.d.a@gmail.com', 'ada+news@gmail.com', 'a.da+x+y@googlemail.com'])
    t.equal(canonical(address), 'ada@gmail.com')
  for (const address of ['ada@proton.me', 'a_d-a@protonmail.com', 'a.da+x@pm.me'])
    t.equal(canonical(address), 'ada@proton.me')
  for (const address of ['a.da@me.com', 'a.da+x@mac.com']) t.equal(canonical(address), 'a.da@icloud.com')
  for (const address of ['a.da@yandex.ru', 'a-da@ya.ru', 'a.da+x@yandex.com'])
    t.equal(canonical(address), 'a-da@yandex.ru')
  for (const address of ['ada-news@yahoo.co.uk', 'ada-x-y@yahoo.co.uk'])
    t.equal(canonical(address), 'ada@yahoo.co.uk', 'a domain of its own')
  for (const address of ['ada@fastmail.com', 'news@ada.fastmail.com', 'ada+x@fastmail.com'])
    t.equal(canonical(address), 'ada@fastmail.com')
  t.equal(canonical('ada+news@example.com'), 'ada@example.com')
})

t.test('dots count where servers do not ignore them, and nothing becomes empty', async t => {
  for (const address of [
    'a.da@example.com',
    '+tag@example.com',
    'ada@sub.gmail.com',
    'a.da@gmail.com.example.com',
    'ada-x@yahoo.example.com',
  ])
    t.equal(canonical(address), address)
  t.equal(canonical('...@gmail.com'), '...@gmail.com')
  t.equal(canonical('+a.b@gmail.com'), '+ab@gmail.com')
})

t.test('a messenger account is itself', async t => {
  const telegram = { kind: 'telegram', subject: '17' } as const
  t.equal(canonicalOf(telegram), telegram)
})
