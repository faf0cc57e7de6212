import t, { type Test } from 'tap'
import { picture } from './support/client.ts'
import { instantProvider, openAccount, startService } from './support/service.ts'
import { ScriptProcess } from './support/service-process.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// Each command is a process of its own, which takes a second to start.
t.setTimeout(120_000)

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })

/** Runs a command of the operator beside the service. */
const tollgate = (t: Test, ...args: string[]) => {
  const command = new ScriptProcess('src/cli.ts', args, { DATA_DIR: folder })
  t.teardown(() => command.end('SIGKILL'))
  return command.ended
}

/** Runs a command that must succeed, and reads the JSON that it prints. */
const json = async (t: Test, ...args: string[]) => {
  const { code, stdout, stderr } = await tollgate(t, ...args, '--json')
  t.same({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
  return JSON.parse(stdout)
}

/** Runs a command that must succeed, and hands back what a person sees. */
const text = async (t: Test, ...args: string[]) => {
  const { code, stdout, stderr } = await tollgate(t, ...args)
  t.same({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
  return stdout
}

t.test('accounts open: the key works at once', async t => {
  const opened = await json(t, 'accounts', 'open', '--email', 'Ada@Example.com', '--credits', '12.5', '--tester')
  t.match(opened, { account_id: /^acct_/, api_key: /^tg_sk_live_[0-9a-f]{32}$/ })
  const customer = service.client(opened.api_key)
  t.equal(await customer.balance(), 12.5)
  t.match((await customer.send('/v1/models')).text, '"sandbox"')

  const shown = await text(t, 'accounts', 'open', '--email', 'bob@example.com')
  const [key] = shown.match(/tg_sk_live_[0-9a-f]{32}/) ?? []
  t.match(shown, /account id +acct_/)
  t.equal(await service.client(key).balance(), 100)
})

t.test('accounts list and show: who there is, and what they have', async t => {
  const customer = await openAccount(service)
  await customer.run(picture)
  const expected = {
    account_id: customer.accountId,
    tester: false,
    credits_balance: 90,
    credits_granted: 100,
    credits_debited: 10,
    credits_refunded: 0,
  }
  const [list, listText, shown, shownText] = await Promise.all([
    json(t, 'accounts', 'list'),
    text(t, 'accounts', 'list'),
    json(t, 'accounts', 'show', customer.accountId),
    text(t, 'accounts', 'show', customer.accountId),
  ])
  t.match(shown, expected)
  t.match(list.at(-1), expected)
  t.match(listText, customer.accountId)
  t.match(listText, 'ada@example.com')
  t.match(shownText, /credits balance +90\b/)
})

t.test('credits grant: a run that was refused is accepted right after', async t => {
  const customer = await openAccount(service, { credits: 9.999999 })
  t.equal((await customer.run(picture)).status, 402)
  const granted = await json(t, 'credits', 'grant', customer.accountId, '0.000001', '--reason', 'a gift')
  t.same(granted, { account_id: customer.accountId, credits_granted: 0.000001, credits_balance: 10 })
  t.equal((await customer.run(picture)).status, 200)
  t.match(await text(t, 'credits', 'grant', customer.accountId, '5', '--reason', 'another'), /credits balance +5\b/)
  t.equal(await customer.balance(), 5)
})

t.test('keys: created, listed by their last four characters, and refused as soon as they are revoked', async t => {
  const customer = await openAccount(service)
  const { accountId } = customer
  const created = await json(t, 'keys', 'create', accountId, '--name', 'laptop')
  const second = service.client(created.api_key)
  t.equal((await second.run(picture)).status, 200)

  const listed = await json(t, 'keys', 'list', accountId)
  t.match(listed, [{ name: 'test' }, { key_id: created.key_id, name: 'laptop', revoked_at: null }])
  t.equal(listed[1].last_four, created.api_key.slice(-4))
  t.notMatch(JSON.stringify(listed), created.api_key)

  const revoking = new ScriptProcess('src/cli.ts', ['keys', 'revoke', accountId, created.key_id, '--json'], {
    DATA_DIR: folder,
  })
  const [printed] = await revoking.until(/^\{.*\}$/m)
  // The operator has read that it is revoked, so from here on it must be.
  t.equal((await second.run(picture)).status, 401)
  t.same(JSON.parse(printed), { account_id: accountId, key_id: created.key_id, revoked: true })
  t.equal((await revoking.ended).code, 0)
  t.equal((await customer.run(picture)).status, 200)

  const [revoked, shown, again] = await Promise.all([
    json(t, 'keys', 'list', accountId),
    text(t, 'keys', 'list', accountId),
    tollgate(t, 'keys', 'revoke', accountId, created.key_id),
  ])
  t.type(revoked[1].revoked_at, 'string')
  t.match(shown, /laptop/)
  t.equal(again.code, 1)
  t.match(again.stderr, 'no such active key')
})

t.test('keys create and revoke speak to people too', async t => {
  const { accountId, keyId } = await openAccount(service)
  t.match(await text(t, 'keys', 'create', accountId), /api key +tg_sk_live_/)
  t.match(await text(t, 'keys', 'revoke', accountId, keyId), /revoked +true/)
})

t.test('catalog list: what is published, for testers too', async t => {
  const [families, shown] = await Promise.all([json(t, 'catalog', 'list'), text(t, 'catalog', 'list')])
  const tester = await openAccount(service, { tester: true })
  t.same({ object: 'list', data: families }, (await tester.send('/v1/models')).body)
  t.match(shown, /nano-banana-2 +image +public +t2i, i2i +10 – 81\.5/)
})

t.test('views verify and rebuild: a changed row is found and mended, while the service answers', async t => {
  const customer = await openAccount(service)
  t.same(await json(t, 'views', 'verify'), { equal: true, differences: 0 })

  const { views } = service.core
  const checkpoint = await views.checkpoint()
  if (!checkpoint) throw new Error('the views are empty')
  const address = `rows/balance/${customer.accountId}`
  const forged = { balanceMicros: 1, grantedMicros: 1, debitedMicros: 0, refundedMicros: 0 }
  await views.repair([{ address, value: JSON.stringify(forged) }], checkpoint)

  const [found, foundText] = await Promise.all([
    tollgate(t, 'views', 'verify', '--json'),
    tollgate(t, 'views', 'verify'),
  ])
  t.equal(found.code, 1)
  t.same(JSON.parse(found.stdout), { equal: false, differences: 1, places: [address] })
  t.equal(foundText.code, 1)
  t.match(foundText.stdout, address)

  const rebuilding = json(t, 'views', 'rebuild')
  const statuses = new Set<number>()
  let ended = false
  const rebuilt = rebuilding.finally(() => {
    ended = true
  })
  while (!ended) statuses.add((await customer.send('/v1/models')).status)
  t.same(await rebuilt, { rebuilt: true, differences: 1, places: [address] })
  t.same([...statuses], [200])
  t.match(await text(t, 'views', 'verify'), /equal +true/)
  t.match(await text(t, 'views', 'rebuild'), /rebuilt +true/)
  t.equal(await customer.balance(), 100)
})

t.test('what cannot be done: a message, exit code 1, and no stack', async t => {
  const { accountId } = await openAccount(service)
  const absent = 'acct_01h455vb4pex5vsknk084sn02q'
  const head = await service.core.log.head()
  const wrong: [args: string[], message: RegExp][] = [
    [['accounts', 'open', '--email', 'ada@example.com'], /^ada@example\.com already has the account acct_/],
    [['accounts', 'open', '--email', 'ada'], /"ada" is not an e-mail address/],
    [['accounts', 'show', absent], /There is no such account/],
    [['credits', 'grant', accountId, '1e3', '--reason', 'x'], /must be a number of credits/],
    [['credits', 'grant', accountId, '1', '--reason', ''], /The reason must have 1 to 200 characters/],
    [['credits', 'grant', accountId, '1'], /required option '--reason/],
    [['keys', 'create', accountId, '--name', 'x'.repeat(101)], /The name of a key must have 1 to 100 characters/],
    [['accounts', 'open', '--email', 'new@example.com', '--key', ''], /The name of a key must have/],
    [['keys', 'revoke', accountId, 'key_01h455vb4pex5vsknk084sn02q'], /no such active key/],
    [['nonsense'], /unknown command/],
  ]
  const refuse = async (args: string[], message: RegExp) => {
    const { code, stdout, stderr } = await tollgate(t, ...args)
    t.equal(code, 1, args.join(' '))
    t.equal(stdout, '')
    t.match(stderr, message)
    t.notMatch(stderr, /^ +at /m)
  }
  await Promise.all(wrong.map(([args, message]) => refuse(args, message)))
  t.equal(await service.core.log.head(), head)
})

t.test('bad configuration is told as at the start of the service', async t => {
  const command = new ScriptProcess('src/cli.ts', ['accounts', 'list'], { DATA_DIR: folder, PORT: 'abc' })
  const { code, stderr } = await command.ended
  t.equal(code, 1)
  t.match(stderr, /^The configuration cannot be used\.\nPORT must be/)
})
