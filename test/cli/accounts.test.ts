import t from 'tap'
import { BrowserClient, messagesIn } from '../support/browser-client.ts'
import { startMailServer } from '../support/mail-server.ts'
import { operatorOf } from '../support/operator.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, environment: { REGISTRATION: 'invite' } })
const operator = operatorOf(folder)

interface Shown {
  account_id: string
  email: string
}

t.test('an operator invites an address, which may then open an account', async t => {
  const browser = new BrowserClient(service.url)
  t.match((await browser.get('/console/sign-in')).text, /by invitation/)
  const invited = await operator.json(t, 'accounts', 'invite', 'Ada@Example.com', '--as', 'grace')
  t.same(invited, { email: 'Ada@Example.com', invited: true })
  const again = await operator.run('accounts', 'invite', 'ada@example.com', '--json')
  t.match(again, { code: 0, stderr: 'ada@example.com was invited before.\n' })
  t.same(JSON.parse(again.stdout), { email: 'ada@example.com', invited: false })
  await browser.signIn(service, 'ada@example.com')
  t.match(await operator.refused(t, 'accounts', 'invite', 'ada@example.com'), /already exists/)
  t.match(await operator.refused(t, 'accounts', 'invite', 'ada'), /is not an e-mail address/)
})

t.test('an invitation is mailed, and again if it is repeated', async t => {
  const mail = await startMailServer(t)
  const mailing = operatorOf(folder, {
    ...mail.environment,
    PUBLIC_URL: 'https://api.example.com',
    SERVICE_NAME: 'Acme',
  })
  t.match(await mailing.run('accounts', 'invite', 'Eve@Example.com'), {
    code: 0,
    stderr:
      'The invitation was mailed to eve@example.com. The link in the mail is https://api.example.com/console/sign-in;',
  })
  t.match(mail.received, [{ from: 'tollgate@example.com', to: ['eve@example.com'] }])
  t.match(mail.received[0]?.text, /You may open an account at https:\/\/api\.example\.com\/console\/sign-in/)
  t.match(mail.received[0]?.text, /^Subject: You are invited to Acme\r$/m)
  mail.isFull = true
  const failed = await mailing.run('accounts', 'invite', 'eve@example.com')
  t.match(failed, { code: 1, stderr: /is recorded, but the mail server failed with \w+ 452\. Repeat the command/ })
  mail.isFull = false
  await mailing.json(t, 'accounts', 'invite', 'zoe@example.com')
  t.match(mail.received[1], { to: ['zoe@example.com'] })
  t.equal((await mailing.run('accounts', 'invite', 'eve@example.com')).code, 0)
  t.equal(mail.received.length, 3)
})

t.test('without a mail server, the invitation is a file, and with closed registration there is none', async t => {
  const outbox = async () => (await messagesIn(service)).filter(message => message.includes('To: bob@example.com\r\n'))
  const closed = operatorOf(folder, { REGISTRATION: 'closed' })
  t.match(
    (await closed.run('accounts', 'invite', 'bob@example.com')).stderr,
    /No mail was sent: with REGISTRATION=closed/,
  )
  t.same(await outbox(), [])
  t.match((await operator.run('accounts', 'invite', 'bob@example.com')).stderr, `newest file in ${folder}/outbox`)
  t.match(await outbox(), [/http:\/\/localhost:8080\/console\/sign-in/])
})

t.test('an operator finds the account of an address, in any case', async t => {
  const found = await operator.json<Shown>(t, 'accounts', 'find', 'ADA@example.com')
  t.match(found, { email: 'ada@example.com', credits_balance: 100 })
  t.same(await operator.json(t, 'accounts', 'show', found.account_id), found)
  t.match(await operator.refused(t, 'accounts', 'find', 'bob@example.com'), /Nothing has this e-mail address or ID/)
})

t.test('an operator chooses the notices of an account', async t => {
  const { account_id: id } = await operator.json<Shown>(t, 'accounts', 'find', 'ada@example.com')
  const before = await operator.json(t, 'accounts', 'notices', id)
  t.same(before, {
    account_id: id,
    ...{ email: true, email_address: 'ada@example.com', url: null, balance_under_credits: 10 },
  })
  const url = 'https://example.com/hooks'
  const after = await operator.json(t, 'accounts', 'notices', id, '--url', url, '--balance-under', '2.5')
  t.same(after, { ...(before as object), url, balance_under_credits: 2.5 })
  t.match(await operator.json(t, 'accounts', 'notices', id, '--email', 'off', '--url', 'none'), {
    ...{ email: false, url: null, balance_under_credits: 2.5 },
  })
  t.match(await operator.json(t, 'accounts', 'notices', id, '--email', 'Ada@example.com'), { email: true })
  t.match(await operator.refused(t, 'accounts', 'notices', id, '--email', 'eve@example.com'), /address of the account/)
  t.match(await operator.refused(t, 'accounts', 'notices', id, '--email', 'maybe'), /--email must be on, off or/)
  t.match(await operator.refused(t, 'accounts', 'notices', id, '--url', 'ftp://example.com'), /cannot receive webhooks/)
})
