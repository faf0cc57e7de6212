import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { TypeID } from 'typeid-js'
import { accountStream } from '../../schemas/events.ts'
import { keepFilesPrivate } from '../../src/boot/process.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { timeOfRunId } from '../../src/services/ids.ts'
import { picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { operatorOf } from '../support/operator.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
const { run: tollgate, text, refused } = operatorOf(folder)

/** Runs a command that must succeed and returns its JSON output. */
const json = async (t: Test, ...args: string[]) => JSON.parse(await text(t, ...args, '--json'))

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

t.test('no command prints characters that control a terminal', async t => {
  t.match(await refused(t, 'bindings', 'list', '\u001b[2J\u009b'), '\\u001b[2J\\u009b')
})

t.test('accounts list and show: show the accounts and their credits', async t => {
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

t.test('accounts suspend and resume: the account is refused meanwhile, and shown as suspended', async t => {
  const customer = await openAccount(service)
  const { accountId } = customer
  const suspend = ['accounts', 'suspend', accountId, '--reason', 'unpaid invoice', '--as', 'ada']
  t.same(await json(t, ...suspend), { account_id: accountId, suspended: true, reason: 'unpaid invoice' })
  await until('it is refused', async () => (await customer.send('/v1/balance')).status === 403)
  t.equal((await customer.run(picture)).body.error.code, 'account_suspended')
  const shown = await json(t, 'accounts', 'show', accountId)
  t.match(shown, { suspended_at: /Z$/, suspension_reason: 'unpaid invoice' })
  t.match(await text(t, 'audit', 'replay', accountId), /suspended: unpaid invoice +operator ada/)
  t.match(
    await text(t, 'audit', 'replay', accountId, '--at', '2100-01-01T00:00:00Z'),
    /suspended +\S+Z: unpaid invoice/,
  )
  t.match(await refused(t, ...suspend), /already suspended \(unpaid invoice\)/)

  const resume = ['accounts', 'resume', accountId, '--reason', 'paid']
  t.match(await text(t, ...resume), /suspended +false/)
  await until('it is answered', async () => (await customer.send('/v1/balance')).status === 200)
  t.match(await json(t, 'accounts', 'show', accountId), { suspended_at: null, suspension_reason: null })
  t.match(await refused(t, ...resume), /not suspended/)
  t.match(await refused(t, 'accounts', 'suspend', accountId), /--reason/)
  t.match(await refused(t, 'accounts', 'suspend', accountId, '--reason', ''), /1 to 200 printable characters/)
})

t.test('accounts close: revokes the keys and suspends, and the credits stay', async t => {
  const customer = await openAccount(service)
  const { accountId } = customer
  await customer.run(picture)
  const close = ['accounts', 'close', accountId, '--reason', 'the customer left', '--as', 'olga']
  t.same(await json(t, ...close), {
    account_id: accountId,
    ...{ closed: true, reason: 'the customer left', keys_revoked: 1, credits_balance: 90 },
  })
  await until('the key is refused', async () => (await customer.send('/v1/balance')).status === 401)
  t.match(await json(t, 'accounts', 'show', accountId), { suspension_reason: 'the customer left', credits_balance: 90 })
  t.match(await refused(t, ...close), /already suspended/)
  t.match(await json(t, 'audit', 'verify', accountId), { faults: [] })
})

t.test('accounts find, runs list and runs show: take any ID', async t => {
  const customer = await openAccount(service)
  const { accountId } = customer
  const first = (await customer.run(picture)).body.run_id
  const { run_id: id } = (await customer.run(picture)).body
  const [key] = await json(t, 'keys', 'list', accountId)
  for (const any of [accountId, id, TypeID.fromString(id).toUUID(), key.key_id])
    t.equal((await json(t, 'accounts', 'find', any)).account_id, accountId, any)
  t.match(await refused(t, 'accounts', 'find', 'run_none'), /Nothing has this e-mail address or ID/)
  const list = ['runs', 'list', '--account', accountId]
  t.match(await json(t, ...list), [{ run_id: id, status: 'completed', credits_charged: 10 }, { run_id: first }])
  t.match(await json(t, 'runs', 'list', '--limit', '1'), [{ run_id: id, account_id: accountId }])
  const since = timeOfRunId(id) > timeOfRunId(first) ? 1 : 2
  t.equal((await json(t, ...list, '--since', new Date(timeOfRunId(id)).toISOString())).length, since)
  t.same(await json(t, ...list, '--status', 'failed'), [])
  t.same(await json(t, ...list, '--model', 'none'), [])
  t.match(await refused(t, ...list, '--since', 'yesterday'), /must be a time in ISO 8601/)
  t.match(await json(t, 'runs', 'show', id), { run_id: id, key_id: key.key_id, provider: 'sandbox', error: null })
  t.match(await refused(t, 'runs', 'show', accountId), /no such run/)
})

t.test('commands make no folder for a wrong DATA_DIR, and log as LOG_LEVEL says', async t => {
  const missing = join(folder, 'missing')
  t.match(await operatorOf(missing).refused(t, 'accounts', 'list'), `DATA_DIR is ${missing}, which does not exist`)
  t.notOk(existsSync(missing))
  t.match(await operatorOf('/proc/x').refused(t, 'accounts', 'list'), 'does not exist')
  t.throws(() => keepFilesPrivate('/proc/x'), { message: /DATA_DIR cannot be created/ })
  const loud = await operatorOf(folder, { LOG_LEVEL: 'loud' }).run('accounts', 'list')
  t.match(loud, { code: 1, stderr: /LOG_LEVEL must be one of/ })
  t.equal(readConfig({}, { isCommand: true }).logLevel, 'warn')
  t.equal(readConfig({ LOG_LEVEL: 'debug' }, { isCommand: true }).logLevel, 'debug')
})

t.test('accounts limits: exceptions are set one by one and end together', async t => {
  const customer = await openAccount(service)
  const limits = ['accounts', 'limits', customer.accountId]
  const set = await json(t, ...limits, '--requests-per-minute', '300')
  t.same(set, { account_id: customer.accountId, requests_per_minute: 300, runs_in_flight: null })
  await until('the limit holds', async () =>
    (await customer.send('/v1/balance')).headers.get('RateLimit-Policy')?.startsWith('"account";q=300;w=60'),
  )
  t.match(await json(t, ...limits, '--runs-in-flight', '7'), { requests_per_minute: 300, runs_in_flight: 7 })
  t.match(await json(t, 'accounts', 'show', customer.accountId), { requests_per_minute: 300, runs_in_flight: 7 })
  t.match(await json(t, ...limits, '--default'), { requests_per_minute: null, runs_in_flight: null })
  for (const [options, told] of [
    [[], /Give --requests-per-minute/],
    [['--default', '--runs-in-flight', '7'], /or only --default/],
    [['--runs-in-flight', '0'], /"0" must be a whole number from 1/],
    [['--requests-per-minute', '1e3'], /"1e3" must be a whole number/],
    [['--requests-per-minute', '1000000001'], /must be a whole number/],
  ] as const)
    t.match(await refused(t, ...limits, ...options), told)
  t.match(await refused(t, 'accounts', 'limits', 'acct_none', '--default'), /There is no such account/)
})

t.test('accounts tester: models in test exist for the account, or not', async t => {
  const customer = await openAccount(service)
  const tester = ['accounts', 'tester', customer.accountId]
  t.match(await json(t, ...tester, 'yes'), { account_id: customer.accountId, tester: true })
  t.match(await json(t, 'accounts', 'show', customer.accountId), { tester: true })
  t.match(await json(t, ...tester, 'no'), { tester: false })
  t.match(await refused(t, ...tester, 'perhaps'), /Allowed choices are yes, no/)
})

t.test('credits grant: a refused run is accepted right after', async t => {
  const customer = await openAccount(service, { credits: 9.999999 })
  t.equal((await customer.run(picture)).status, 402)
  const grant = ['credits', 'grant', customer.accountId, '0.000001', '--reason', 'a gift', '--reference', 'gift 1']
  const granted = {
    account_id: customer.accountId,
    credits_granted: 0.000001,
    reference: 'gift 1',
    credits_balance: 10,
  }
  t.same(await json(t, ...grant), { ...granted, repeated: false })
  t.same(await json(t, ...grant), { ...granted, repeated: true }, 'the same reference grants once')
  t.match(await text(t, ...grant, '--kind', 'welcome'), /^Already recorded under this reference\. Nothing changed/)
  t.equal((await customer.run(picture)).status, 200)
  t.match(await text(t, 'credits', 'grant', customer.accountId, '5', '--reason', 'another'), /credits balance +5\b/)
  // What a process shows may be a second behind what another has written.
  await until('the balance shows the grant', async () => (await customer.balance()) === 5)
})

t.test('credits grant: a purchase records what was paid, and for which invoice', async t => {
  const { accountId } = await openAccount(service)
  const grant = ['credits', 'grant', accountId, '250', '--reason', 'order 3', '--kind']
  for (const [options, told] of [
    [['purchase', '--reference', 'r-17'], /needs the amount paid, such as --paid '25\.00 EUR'/],
    [['purchase', '--reference', 'r-17', '--paid', '25,00 EUR'], /needs the amount paid/],
    [['purchase', '--reference', 'r-17', '--paid', '1.000 EUR'], /"1\.000 EUR" is not clear: .* EUR has 2 decimals/],
    [['purchase', '--reference', 'r-17', '--paid', '1,000.00 EUR'], /without a separator for thousands/],
    [['purchase', '--reference', 'r-17', '--paid', '1 000 EUR'], /without a separator for thousands/],
    [['purchase', '--reference', 'r-17', '--paid', '1000.5 JPY'], /JPY has no decimals/],
    [['purchase', '--reference', 'r-17', '--paid', '25.00 BTC'], /BTC is not a current ISO 4217 currency/],
    [['purchase', '--paid', '25.00 EUR'], /needs an invoice: give --invoice or --reference/],
    [['courtesy', '--paid', '25.00 EUR'], /Only a purchase has a payment/],
    [['courtesy', '--tax', '3.99'], /Only a purchase has a payment/],
    [['purchase', '--reference', 'r-17', '--paid', '25 EUR', '--tax', '25.01'], /tax of 25\.01 EUR is more than/],
  ] as const) {
    const { code, stderr } = await tollgate(...grant, ...options)
    t.equal(code, 1)
    t.match(stderr, told)
  }
  const first = await json(t, ...grant, 'purchase', '--reference', 'r-17', '--paid', '25.00 EUR', '--tax', '3.9')
  t.match(first, { paid: '25.00 EUR', tax: '3.90 EUR', invoice: 'r-17' }, 'the command repeats what it has understood')
  t.match(await text(t, ...grant, 'purchase', '--invoice', 'i-18', '--paid', '0.5USD'), /^paid +0\.50 USD$/m)
  const grants = (await collect(service.core.log.readStream(accountStream(accountId), 2))).slice(-2)
  t.match(
    grants.map(({ data }) => (data as { payment: object }).payment),
    [
      { amount: '25.00', currency: 'EUR', invoice: 'r-17', tax: '3.90' },
      { amount: '0.5', currency: 'USD', invoice: 'i-18' },
    ],
  )
})

t.test(
  'keys create, list and revoke: keys are listed by their last four characters and refused once revoked',
  async t => {
    const customer = await openAccount(service)
    const { accountId } = customer
    const created = await json(t, 'keys', 'create', accountId, '--name', 'laptop')
    const second = service.client(created.api_key)
    t.equal((await second.run(picture)).status, 200)

    const listed = await json(t, 'keys', 'list', accountId)
    t.match(listed, [{ name: 'test' }, { key_id: created.key_id, name: 'laptop', scope: 'full', revoked_at: null }])
    t.equal(listed[1].last_four, created.api_key.slice(-4))
    t.notMatch(JSON.stringify(listed), created.api_key)

    const revoking = new ScriptProcess('src/cli.ts', ['keys', 'revoke', accountId, created.key_id, '--json'], {
      DATA_DIR: folder,
    })
    const [printed] = await revoking.until(/^\{.*\}$/m)
    // The command has reported the revocation, so the key must not work from here on.
    t.equal((await second.run(picture)).status, 401)
    t.same(JSON.parse(printed), { account_id: accountId, key_id: created.key_id, revoked: true })
    t.equal((await revoking.ended).code, 0)
    t.equal((await customer.run(picture)).status, 200)

    const [revoked, shown, again] = await Promise.all([
      json(t, 'keys', 'list', accountId),
      text(t, 'keys', 'list', accountId),
      tollgate('keys', 'revoke', accountId, created.key_id),
    ])
    t.type(revoked[1].revoked_at, 'string')
    t.match(shown, /laptop/)
    t.equal(again.code, 1)
    t.match(again.stderr, 'no such active key')
  },
)

t.test('keys create --test: the key is a test key, and takes no budget', async t => {
  const { accountId } = await openAccount(service, { credits: 0 })
  const created = await json(t, 'keys', 'create', accountId, '--test')
  t.match(created, { livemode: false, api_key: /^tg_sk_test_[0-9a-f]{32}$/ })
  t.match((await service.client(created.api_key).run(picture)).body, { livemode: false, credits_charged: 0 })
  t.match(await json(t, 'keys', 'list', accountId), [{ livemode: true }, { livemode: false }])
  t.match(await text(t, 'keys', 'list', accountId), /full, test/)
  const budgeted = await tollgate('keys', 'create', accountId, '--test', '--budget', '5/day')
  t.match(budgeted, { code: 1, stderr: /takes no budget/ })
})

t.test('keys create --scope: the key has the scope', async t => {
  const { accountId } = await openAccount(service)
  const created = await json(t, 'keys', 'create', accountId, '--scope', 'read')
  t.match(created, { scope: 'read' })
  const reader = service.client(created.api_key)
  t.equal(await reader.balance(), 100)
  t.match(await reader.run(picture), { status: 403, body: { error: { code: 'forbidden' } } })
  t.match(await json(t, 'keys', 'list', accountId), [{ scope: 'full' }, { scope: 'read' }])
  t.match(
    (await tollgate('keys', 'create', accountId, '--scope', 'admin')).stderr,
    /Allowed choices are full, read, keys/,
  )
})

t.test('keys create: limits are recorded, kept, and listed in 80 columns', async t => {
  const { accountId } = await openAccount(service)
  const limits = ['--expires', '2100-01-01', '--budget', '15/month', '--models', 'nano, nano-banana-2-i2i']
  const addresses = ['--addresses', '127.0.0.1,::1,2001:0db8::/32']
  const name = `a name that is as long as a name may be ${'x'.repeat(24)}`
  const created = await json(t, 'keys', 'create', accountId, '--name', name, ...limits, ...addresses)
  const client = service.client(created.api_key)
  t.equal((await client.run(picture)).status, 200)
  t.match(await client.run(picture), { status: 402, body: { error: { code: 'budget_exceeded' } } })
  const [, listed] = await json(t, 'keys', 'list', accountId)
  t.match(listed, {
    expires_at: '2100-01-01T00:00:00.000Z',
    budget: { credits: 15, period: 'month', spent_credits: 10, renews_at: String },
    models: ['nano-banana-2', 'nano-banana-2-i2i'],
    addresses: ['127.0.0.1/32', '::1/128', '2001:db8::/32'],
  })
  const shown = await text(t, 'keys', 'list', accountId)
  t.match(shown, /10 of 15 credits spent this/)
  t.match(shown, /expires 2100-01-01 00:00 UTC/)
  for (const line of shown.split('\n')) t.ok(line.length <= 80, line)
})

t.test('keys create and revoke: print text without --json', async t => {
  const { accountId, keyId } = await openAccount(service)
  t.match(await text(t, 'keys', 'create', accountId), /api key +tg_sk_live_/)
  t.match(await text(t, 'keys', 'revoke', accountId, keyId), /revoked +true/)
})

t.test('catalog list: shows all published families, including those for testers', async t => {
  const [families, shown] = await Promise.all([json(t, 'catalog', 'list'), text(t, 'catalog', 'list')])
  const tester = await openAccount(service, { tester: true })
  t.same({ object: 'list', data: families }, (await tester.send('/v1/models')).body)
  t.match(shown, /nano-banana-2 +image +public +t2i, i2i +yes +10 – 81\.5/)
  t.match(shown, /lyria-2 +audio +public +t2a +yes +6 *$/m, 'a single price is no range')
})

t.test('views verify and rebuild: a changed row is found and repaired while the service runs', async t => {
  const customer = await openAccount(service)
  t.same(await json(t, 'views', 'verify'), { equal: true, differences: 0 })

  const { views } = service.core
  const checkpoint = await views.checkpoint()
  if (!checkpoint) throw new Error('the views are empty')
  const address = `rows/balance/${customer.accountId}`
  const forged = { balanceMicros: 1, grantedMicros: 1, debitedMicros: 0, refundedMicros: 0 }
  await views.replaceCells([{ address, value: JSON.stringify(forged) }], checkpoint, checkpoint)

  const [found, foundText] = await Promise.all([tollgate('views', 'verify', '--json'), tollgate('views', 'verify')])
  t.equal(found.code, 1)
  t.same(JSON.parse(found.stdout), { equal: false, differences: 1, places: [address] })
  t.equal(foundText.code, 1)
  t.equal(foundText.stdout, `The views differ from the log in 1 place:\n  ${address}\n`)

  const rebuilding = json(t, 'views', 'rebuild')
  const statuses = new Set<number>()
  let ended = false
  const rebuilt = rebuilding.finally(() => {
    ended = true
  })
  while (!ended) statuses.add((await customer.send('/v1/models')).status)
  t.same(await rebuilt, { rebuilt: true, differences: 1, places: [address] })
  t.same([...statuses], [200])
  t.equal(await text(t, 'views', 'verify'), 'The views match the log.\n')
  t.equal(await text(t, 'views', 'rebuild'), 'The views were rebuilt. They matched the log before.\n')
  t.equal(await customer.balance(), 100)
})

t.test('invalid commands fail with a message, exit code 1 and no stack', async t => {
  const { accountId } = await openAccount(service)
  const absent = 'acct_01h455vb4pex5vsknk084sn02q'
  const head = await service.core.log.head()
  const wrong: [args: string[], message: RegExp][] = [
    [['accounts', 'open', '--email', 'ada'], /"ada" is not an e-mail address/],
    [['accounts', 'show', absent], /There is no such account/],
    [['credits', 'grant', accountId, '1e3', '--reason', 'x'], /must be a number of credits/],
    [
      ['credits', 'grant', accountId, '99999999999999', '--reason', 'x'],
      /must be a number of credits .* to 1000000000,/,
    ],
    [['credits', 'grant', accountId, '9007199254.740993', '--reason', 'x'], /must be a number of credits/],
    [['credits', 'grant', accountId, '1', '--reason', 'a\x1b[2Jb'], /The reason must have .* printable characters/],
    [['credits', 'grant', accountId, '1', '--reason', 'x', '--reference', 'a\nb'], /The reference must have/],
    [['keys', 'create', accountId, '--name', 'a\u202eb'], /The name of a key must have/],
    [['keys', 'create', accountId, '--expires', 'soon'], /"soon" is not a date or time/],
    [['keys', 'create', accountId, '--expires', '2020-01-01'], /would have expired already/],
    [['keys', 'create', accountId, '--budget', '50'], /"50" is not a budget: write credits and day, week, month/],
    [['keys', 'create', accountId, '--budget', '0/day'], /must be a number of credits from 0.000001/],
    [['keys', 'create', accountId, '--models', 'nano-banana-2,nope'], /There is no model "nope"/],
    [
      ['keys', 'create', accountId, '--addresses', '10.0.0.0/33'],
      /"10.0.0.0\/33" is not an IP address or a CIDR range/,
    ],
    [['accounts', 'open', '--email', 'x\x1b[2J@example.com'], /is not an e-mail address/],
    [['accounts', 'open', '--email', 'new@example.com', '--credits', ''], /"" must be a number of credits/],
    [['credits', 'grant', accountId, '1', '--reason', ''], /The reason must have 1 to 200 printable characters/],
    [['credits', 'grant', accountId, '1'], /required option '--reason/],
    [
      ['keys', 'create', accountId, '--name', 'x'.repeat(65)],
      /The name of a key must have 1 to 64 printable characters/,
    ],
    [['accounts', 'open', '--email', 'new@example.com', '--key', ''], /The name of a key must have/],
    [['keys', 'revoke', accountId, 'key_01h455vb4pex5vsknk084sn02q'], /no such active key/],
    [['nonsense'], /unknown command/],
  ]
  const refuse = async (args: string[], message: RegExp) => {
    const { code, stdout, stderr } = await tollgate(...args)
    t.equal(code, 1, args.join(' '))
    t.equal(stdout, '')
    t.match(stderr, message)
    t.notMatch(stderr, /^ +at /m)
  }
  await Promise.all(wrong.map(([args, message]) => refuse(args, message)))
  t.equal(await service.core.log.head(), head)
})

t.test('the help of every command shows the options of the program', async t => {
  for (const command of [['credits'], ['credits', 'grant'], ['views', 'verify']])
    t.match(await text(t, ...command, '--help'), /--as <name>/, command.join(' '))
})

t.test('invalid configuration is reported as at the start of the service', async t => {
  const command = new ScriptProcess('src/cli.ts', ['accounts', 'list'], { DATA_DIR: folder, PORT: 'abc' })
  const { code, stderr } = await command.ended
  t.equal(code, 1)
  t.match(stderr, /^The configuration is invalid\.\nPORT must be/)
})

t.test('accounts open: a repetition returns the account without credits or a key', async t => {
  const open = ['accounts', 'open', '--email', 'once@example.com', '--json']
  const [first, second] = [await tollgate(...open), await tollgate(...open)]
  const opened = JSON.parse(first.stdout)
  t.match(opened, { account_id: /^acct_/, opened: true, api_key: /^tg_sk_live_/ })
  t.same(JSON.parse(second.stdout), { account_id: opened.account_id, opened: false, api_key: null })
  t.match(second, {
    code: 0,
    stderr: new RegExp(`already has an account; "tollgate keys create ${opened.account_id}"`),
  })
  const shown = await json(t, 'accounts', 'show', opened.account_id)
  t.match(shown, { credits_balance: 100, credits_granted: 100 })
})

t.test('credits withdraw: withdraws a grant once and never more than the balance', async t => {
  const { accountId } = await openAccount(service)
  const withdraw = ['credits', 'withdraw', accountId, '40', '--reason', 'granted twice', '--reference', 'mistake 1']
  const withdrawn = { account_id: accountId, credits_withdrawn: 40, reference: 'mistake 1', credits_balance: 60 }
  t.same(await json(t, ...withdraw), { ...withdrawn, repeated: false })
  t.same(await json(t, ...withdraw), { ...withdrawn, repeated: true })
  const purchase = ['--kind', 'purchase', '--reason', 'invoice 17 was too high', '--reference', 'mistake 2']
  t.match(await json(t, 'credits', 'withdraw', accountId, '10', ...purchase), { credits_balance: 50 })
  const { code, stderr } = await tollgate('credits', 'withdraw', accountId, '51', '--reason', 'all of it')
  t.match({ code, stderr }, { code: 1, stderr: 'The balance is 50 credits, so at most 50 can be withdrawn.' })
  const other = ['credits', 'grant', accountId, '1', '--reason', 'x', '--reference', 'mistake 1']
  t.match((await tollgate(...other)).stderr, /was used for a withdrawal of 40 credits/)
  t.match(await json(t, 'accounts', 'show', accountId), { credits_balance: 50, credits_withdrawn: 50 })
})

t.test('runs refund: refunds a completed run in parts, never more than its price, and shows the refunds', async t => {
  const customer = await openAccount(service)
  const { run_id } = (await customer.run(picture)).body
  const refund = ['runs', 'refund', run_id, '--reason', 'the picture was black']
  const refunded = { account_id: customer.accountId, run_id }
  t.same(await json(t, ...refund, '--credits', '4'), { ...refunded, credits_refunded: 4, credits_balance: 94 })
  t.match((await tollgate(...refund, '--credits', '7')).stderr, /At most 6 credits of this run can be refunded/)
  t.same(await json(t, ...refund), { ...refunded, credits_refunded: 6, credits_balance: 100 })
  t.match((await tollgate(...refund)).stderr, /This run has already been refunded in full\./)
  const { body } = await customer.send(`/v1/runs/${run_id}`)
  t.match(body, { status: 'completed', credits_charged: 10, credits_refunded: 10 })
  t.match(
    (await tollgate('runs', 'refund', 'run_01m7z4hp40enbs019v3tcadvdx', '--reason', 'x')).stderr,
    /There is no such run\./,
  )
})
