import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { TypeID } from 'typeid-js'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { openLmdbEventLogReadOnly } from '../../../src/adapters/event-log/lmdb-read-only.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import type { SealCopy } from '../../../src/ports/seal-sink.ts'
import { parseSealKey, type SealKey } from '../../../src/services/seals/seal-key.ts'
import { copyOf } from '../../../src/services/seals/seals.ts'
import { busyLog, sealedWithKey } from '../../support/busy-log.ts'
import { picture } from '../../support/client.ts'
import { collect } from '../../support/collect.ts'
import { makeLink } from '../../support/links.ts'
import { operatorOf } from '../../support/operator.ts'
import { newSealKeyPem } from '../../support/seal-key-pem.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { startWithCosts } from '../../support/vendor-log.ts'

const folder = await temporaryFolder(t)
const service = await startService(t, { folder, providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
const metadata = { order: 4711, note: '\u009b2J' }
const longPrompt = 'a lake '.repeat(100)
const { body: run } = await customer.run(
  { ...picture, input: { prompt: longPrompt }, metadata, label: 'spring' },
  { 'Idempotency-Key': 'order-4711' },
)
const operator = operatorOf(folder)

/** The log as an exported file, with a change of its lines. */
const exported = async (change: (lines: string[]) => string[] = lines => lines): Promise<string> => {
  const log = openLmdbEventLogReadOnly(join(folder, 'log'))
  const lines = (await collect(log.readAll(BEFORE_FIRST))).map(event => JSON.stringify(event))
  await log.close()
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(
    path,
    change(lines)
      .map(line => `${line}\n`)
      .join(''),
  )
  return path
}

t.test('audit verify: the log of a running service has no fault', async t => {
  const before = await service.core.log.head()
  const verification = await operator.json<Record<string, unknown>>(t, 'audit', 'verify')
  t.match(verification, { valid: true, position: before, events: before + 1, faults: [], notes: [] })
  t.match(
    await operator.text(t, 'audit', 'verify'),
    /^\d+ events in \d+ streams checked, .*: nothing is wrong\.\nNo seal .* makes a seal within SEAL_MINUTES\.$/m,
  )
  t.equal(await service.core.log.head(), before, 'nothing was written')
})

t.test('audit verify and trial-balance: the documentation has the names of their JSON, and no others', async t => {
  const changed = await exported(lines => lines.map(line => line.replace('"reason":"welcome"', '"reason":"another"')))
  const verify = ['audit', 'verify', '--file', changed, '--json']
  const page = await readFile('docs/audit-commands.md', 'utf8')
  const log = await busyLog(t, { SEAL_EVENTS: '40' })
  const whole = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(whole, log.map(event => `${JSON.stringify(event)}\n`).join(''))
  const sealed = await operator.json(t, 'audit', 'verify', '--file', whole)
  const { events: withCosts } = await startWithCosts(t)
  const charged = join(await temporaryFolder(t), 'charged.jsonl')
  await writeFile(charged, (await withCosts()).map(event => `${JSON.stringify(event)}\n`).join(''))
  for (const [command, documents] of [
    ['verify', [JSON.parse((await operator.run(...verify)).stdout), sealed]],
    ['trial-balance', [await operator.json(t, 'audit', 'trial-balance', '--file', charged)]],
  ] as const) {
    const [, section = ''] = page.split(`## \`audit ${command}\`\n`)
    const [table = ''] = section.split('\n## ')
    const documented = [...table.matchAll(/^\| (.*?) +\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name as string),
    )
    t.same(new Set(documented), new Set(documents.flatMap(namesIn)), command)
  }
})

/** The names of all fields in a JSON document. */
const namesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(namesIn)
  return Array.isArray(value) ? below : [...Object.keys(value), ...below]
}

t.test('audit verify: checks one account', async t => {
  const { events } = await operator.json<{ events: number }>(t, 'audit', 'verify', customer.accountId)
  const all = await operator.json<{ events: number }>(t, 'audit', 'verify')
  t.ok(events < all.events)
  const { code, stderr } = await operator.run('audit', 'verify', 'acct_00000000000000000000000000')
  t.equal(code, 2)
  t.match(stderr, /has no account acct_/)
})

t.test('audit verify: an exported log has no fault, and a changed one names the place', async t => {
  t.match(await operator.json(t, 'audit', 'verify', '--file', await exported()), { valid: true })
  const change = (lines: string[]) =>
    lines.map(line => line.replace('"amountMicros":100000000', '"amountMicros":900000000'))
  const { code, stdout } = await operator.run('audit', 'verify', '--file', await exported(change), '--json')
  t.equal(code, 1)
  const place = {
    stream: `account-${customer.accountId}`,
    revision: 1,
    fault: 'its link does not match what was written',
  }
  t.match(JSON.parse(stdout), { valid: false, faults: [place] })
})

t.test('audit verify: the newest seal is named, and a kept one is found again', async t => {
  const events = await busyLog(t, { SEAL_EVENTS: '40' })
  const path = join(await temporaryFolder(t), 'log.jsonl')
  const write = (kept: RawEvent[]) => writeFile(path, kept.map(event => `${JSON.stringify(event)}\n`).join(''))
  await write(events)
  const verify = ['audit', 'verify', '--file', path]
  const shown = await operator.text(t, ...verify)
  const [, seal = ''] = /^Seal (\d+:sha256-[0-9a-f]{64}) of \S+ covers the first \d+ events/m.exec(shown) ?? []
  t.match(shown, /note: the service generated the seal key beside the log/)
  t.match(shown, /Keep this seal elsewhere, and pass it as --since/)
  t.match(await operator.json(t, ...verify), { valid: true, seal: { seal } })
  t.notMatch(await operator.text(t, ...verify, '--since', seal), /Keep this seal/)
  await write(events.toSpliced(3, 1))
  const { stdout: atFault } = await operator.run(...verify)
  t.match(atFault, /^Seal \d+:/m)
  t.notMatch(atFault, /Keep this seal/, 'a seal of a log that is at fault is not worth keeping')
  const sealed = events.findLast(({ type }) => type === 'LogSealed') as RawEvent
  await write(events.filter(({ position }) => position < sealed.position))
  const { code, stdout } = await operator.run(...verify, '--since', seal)
  t.equal(code, 1)
  t.match(
    stdout,
    /the log does not hold seal \S+, which was kept: if that name is genuine, the log was cut or rewritten/,
  )
  for (const args of [
    ['--since', 'x'],
    ['--since', seal, customer.accountId],
  ])
    t.equal((await operator.run(...verify, ...args)).code, 2)
})

t.test('audit verify: an old name that may be forged accuses nobody, and is told from one that is right', async t => {
  const log = await busyLog(t, { SEAL_EVENTS: '40' })
  const path = join(await temporaryFolder(t), 'log.jsonl')
  await writeFile(path, log.map(event => `${JSON.stringify(event)}\n`).join(''))
  const verify = ['audit', 'verify', '--file', path, '--since']
  const seal = log.find(({ type }) => type === 'LogSealed') as RawEvent
  const { link, name } = copyOf(seal) as SealCopy
  const advice = /^No signature covers an old name such as 12:6cdf…\. Keep the name of this seal/m
  const right = await operator.text(t, ...verify, `1:${link}`)
  t.match(right, /nothing is wrong\.$/m)
  t.match(right, advice)
  t.notMatch(await operator.text(t, ...verify, name), advice)

  // Anybody can make this one from a proof, with another `id` in the event of the seal.
  const forged = makeLink((seal.data as LogSealed).previous, { ...seal, id: crypto.randomUUID() }).link
  const { code, stdout } = await operator.run(...verify, `1:${forged}`)
  t.equal(code, 2)
  t.match(
    stdout,
    `note: its link is not that of seal 1:${forged}, which was kept; no signature covers such an old name`,
  )
  t.match(stdout, `compare its name with ${name}\n`)
  t.match(stdout, /nothing is wrong\.$/m)
  t.match(stdout, advice)
  t.notMatch(stdout, 'rewritten')
  const beyond = await operator.run(...verify, `999:${forged}`)
  t.equal(beyond.code, 2)
  t.match(beyond.stdout, `note: the log does not hold seal 999:${forged}, which was kept; no signature covers`)
  const { stdout: json } = await operator.run(...verify, `1:${forged}`, '--json')
  t.match(JSON.parse(json), { valid: null, faults: [], notes: [{ revision: 0 }, { stream: 'seals', revision: 1 }] })
})

t.test('audit verify: several workers find the same as one', async t => {
  const both = async (...args: string[]) => {
    const [one, several] = await Promise.all(
      ['1', '3'].map(workers => operator.run('audit', 'verify', ...args, '--json', '--workers', workers)),
    )
    t.same(several, one)
    return JSON.parse((one as { stdout: string }).stdout)
  }
  t.match(await both(), { valid: true, faults: [] })
  const change = (lines: string[]) => lines.map(line => line.replace('"kind":"operator"', '"kind":"nobody"'))
  const { faults } = await both('--file', await exported(change), '--since', `1:sha256-${'a'.repeat(64)}`)
  t.ok(faults.length > 3)
  t.match(faults.at(-1), { fault: `the log does not hold seal 1:sha256-${'a'.repeat(64)}, which was kept` })
})

t.test('audit verify: workers that cannot look, or cannot be had, are no fault', async t => {
  const cut = await exported(lines => ['not JSON', ...lines])
  for (const [args, told] of [
    [['--workers', '0'], /^--workers must be a number from 1 to 16\.$/m],
    [['--workers', '17'], /must be a number from 1 to 16/],
    [['--workers', 'all'], /must be a number from 1 to 16/],
    [['--workers', '2', customer.accountId], /--workers needs the whole log: omit the account/],
    [['--workers', '2', '--file', cut], /line 1 is not JSON: the export was cut or changed/],
  ] as const) {
    const { code, stderr } = await operator.run('audit', 'verify', ...args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, told)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
})

t.test('audit verify: a file of kept seals is compared, and the first that the log does not hold is named', async t => {
  const events = await busyLog(t, sealedWithKey)
  const [path, sink] = [join(await temporaryFolder(t), 'log.jsonl'), join(await temporaryFolder(t), 'seals.jsonl')]
  const write = (kept: RawEvent[]) => writeFile(path, kept.map(event => `${JSON.stringify(event)}\n`).join(''))
  await write(events)
  const seals = events.flatMap(raw => (raw.type === 'LogSealed' ? (copyOf(raw) ?? []) : []))
  t.ok(seals.length > 2)
  const verify = ['audit', 'verify', '--file', path, '--sink', sink]
  const lines = seals.map(({ text }) => text)
  await writeFile(sink, `${lines.join('\n')}\n${lines[0]}\n{"cut`)
  t.match(await operator.text(t, ...verify), `${seals.length + 1} seals that you kept were compared.`)
  t.match(await operator.json(t, ...verify), { valid: true, kept_seals: seals.length + 1 })

  const [, second, third] = seals.map(({ number }) => number)
  const changed = (change: object, key?: SealKey) =>
    lines.map((line, at) => (at === 0 ? line : withData(line, change, key))).join('\n')
  const root = '0'.repeat(64)
  await writeFile(sink, changed({ root }, parseSealKey(sealedWithKey.SEAL_KEY, { isDevelopment: false })))
  const rewritten = await operator.run(...verify)
  t.equal(rewritten.code, 1)
  t.match(
    rewritten.stdout,
    new RegExp(`it is not seal ${second}:sha256-\\w+, which was kept, so that the log was cut or rew`),
  )
  t.notMatch(rewritten.stdout, `it is not seal ${third}:`)

  // Anybody who can write the file could make these.
  for (const change of [{ root }, { number: 999 }]) {
    await writeFile(sink, changed(change))
    const { code, stderr } = await operator.run(...verify)
    t.equal(code, 2)
    t.match(stderr, /^The seals cannot be read: .*, line 2 is not signed with its key \S+\.$/m)
  }
  const other = parseSealKey(newSealKeyPem(), { isDevelopment: false })
  await writeFile(sink, changed({ root, keyId: other.keyId }, other))
  const foreign = await operator.run(...verify)
  t.equal(foreign.code, 2)
  t.match(foreign.stdout, `, line 2 says that the key ${other.keyId} has signed it, which this log did not adopt;`)
  t.match(foreign.stdout, /nothing is wrong\.$/m)

  // As the service wrote them before seals had names. Their links are not trusted.
  const old = lines.map(line => line.replace(/,"name":"[^"]+"/, '').replace(/"link":"..../, '"link":"0000'))
  t.notMatch(old[0], 'sha256-')
  await writeFile(sink, old.join('\n'))
  t.match(await operator.json(t, ...verify), { valid: true, notes: [], kept_seals: seals.length })

  await writeFile(sink, `${lines.join('\n')}\n`)
  const cut = events.find(({ revision, type }) => type === 'LogSealed' && revision === second) as RawEvent
  await write(events.filter(({ position }) => position < cut.position))
  const { code, stdout } = await operator.run(...verify)
  t.equal(code, 1)
  t.match(
    stdout,
    new RegExp(`the log does not hold seal ${second}:sha256-\\w+, which was kept, so that the log was cut`),
  )

  for (const [content, told] of [
    ['', /has no seals/],
    [`${lines[0]}\nhello\n${lines[1]}\n`, /line 2 is not a seal/],
    ['hello', /line 1 is not a seal/],
  ] as const) {
    await writeFile(sink, content)
    const { code, stderr } = await operator.run(...verify)
    t.equal(code, 2)
    t.match(stderr, told)
  }
  for (const other of [join(sink, '..'), join(sink, '..', 'missing')]) {
    const { code, stderr } = await operator.run('audit', 'verify', '--file', path, '--sink', other)
    t.equal(code, 2)
    t.match(stderr, /^The seals cannot be read: /)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
  t.equal((await operator.run(...verify, customer.accountId)).code, 2)
})

/** A line of a file of seals with other data, which a key has signed anew. Without a key the old signature stands. */
const withData = (line: string, change: object, key?: SealKey): string => {
  const copy = JSON.parse(line)
  const { signature, ...signed } = { ...copy.data, ...change }
  return JSON.stringify({ ...copy, data: { ...signed, signature: key?.sign(signed) ?? signature } })
}

t.test('audit: a misused command could not look, and so does not exit as if it had found a fault', async t => {
  for (const [args, told] of [
    [[], /^Usage: tollgate audit/],
    [['verify', '--nope'], /unknown option '--nope'/],
    [['explain'], /missing required argument 'run'/],
    [['check', 'proof.json'], /required option '--key <file>' not specified/],
    [['statement', customer.accountId, '--format', 'xml'], /Allowed choices are text, csv/],
    [['frobnicate'], /unknown command 'frobnicate'/],
  ] as const) {
    const { code, stderr } = await operator.run('audit', ...args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, told)
  }
  t.equal((await operator.run('audit', 'verify', '--help')).code, 0)
  t.equal((await operator.run('accounts', 'frobnicate')).code, 1, 'other commands are as before')
})

t.test('audit verify: an empty log is no fault, and is said to be empty', async t => {
  const { code, stdout } = await operator.run('audit', 'verify', '--file', await exported(() => []))
  t.equal(code, 0)
  t.match(stdout, /^The log is empty\. Check that this is the right log\.$/m)
})

t.test('audit verify: what cannot be read is no fault', async t => {
  const missing = join(folder, 'missing.jsonl')
  for (const [path, told] of [
    [missing, /^The exported log cannot be read: ENOENT: no such file/],
    [folder, /^The exported log cannot be read: EISDIR/],
    [await exported(lines => ['not JSON', ...lines]), /line 1 is not JSON: the export was cut or changed/],
    [await exported(lines => [...lines, '{"stream":"x"}']), /line \d+ is not an event/],
  ] as const) {
    const { code, stderr } = await operator.run('audit', 'verify', '--file', path)
    t.equal(code, 2)
    t.match(stderr, told)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
  await t.rejects(readFile(missing), { code: 'ENOENT' })
  const elsewhere = await operatorOf(join(folder, 'elsewhere')).run('audit', 'verify')
  t.equal(elsewhere.code, 2)
  t.match(elsewhere.stderr, /holds no LMDB file\. Set DATA_DIR or EVENT_STORE_URL as for the service, or name an/)
})

t.test('audit replay: shows each event with its balance, of the log and of an exported file', async t => {
  const text = await operator.text(t, 'audit', 'replay', customer.accountId)
  t.match(text, /^ *rev +time \(UTC\) +event +by +change +balance\n/)
  t.match(text, /^ *1 {2}[\d:.]+ {2}welcome granted: welcome \(welcome\) +operator test +\+100 free +100 free$/m)
  t.match(text, /\n\n\d+ events; the balance is 90 credits\.\n$/)
  t.ok(text.split('\n').every(line => line.length <= 100))
  t.equal(await operator.text(t, 'audit', 'replay', customer.accountId, '--file', await exported()), text)
})

t.test('audit replay: the JSON has every event in full', async t => {
  const replay = await operator.json<Record<string, never>>(t, 'audit', 'replay', customer.accountId)
  const { events } = replay as unknown as { events: Record<string, unknown>[] }
  t.match(replay, { account_id: customer.accountId, chain_is_whole: true, chain_faults: [] })
  t.same(
    events.map(({ revision }) => revision),
    events.map((_, index) => index),
  )
  t.match(events[4], {
    ...{ type: 'CreditsDebited', hash: /^[0-9a-f]{64}$/, clock: null, request_id: String },
    actor: { kind: 'key', name: 'test', key_id: customer.keyId },
    data: { amountMicros: 10_000_000 },
    ...{ credits_change: -10, credits_change_free: -10, credits_change_paid: 0 },
    ...{ credits_balance: 90, credits_balance_free: 90, credits_balance_paid: 0 },
  })
})

t.test('audit replay --at: shows the account as it was', async t => {
  const at = (moment: string) => operator.json(t, 'audit', 'replay', customer.accountId, '--at', moment)
  const before = await at('1')
  t.match(before, { as_of: { revision: 1 }, credits_balance: 100, active_keys: [], last_event: { revision: 1 } })
  const [run] = await Promise.all([at('4')])
  t.match(run, { credits_balance: 90, credits_debited: 10, active_keys: [{ key_id: customer.keyId, name: 'test' }] })
  t.match(run, { open_runs: [{ status: 'queued', credits_held: 10, credits_held_free: 10 }] })
  const text = await operator.text(t, 'audit', 'replay', customer.accountId, '--at', '4')
  t.match(text, /^balance +90 credits: 90 free$/m)
  t.match(text, /^1 open run\nrun +status +requested \(UTC\) +holds\n/m)
  t.match(text, /^no stored uploads$/m)
  t.ok(text.split('\n').every(line => line.length <= 100))
})

t.test('audit replay: what cannot be shown ends with 2 and says why', async t => {
  const { accountId } = customer
  const hide = (lines: string[]) => lines.map(line => line.replace('"reason":"welcome"', '"reasons":"\\u001b[2J"'))
  const forge = (lines: string[]) => lines.map(line => line.replace('100000000', '900000000'))
  for (const [args, told] of [
    [['acct_00000000000000000000000000'], /has no account acct_0/],
    [['somebody'], /must be an ID such as acct_/],
    [[accountId, '--at', '999'], /The newest revision of acct_\w+ is \d+\./],
    [[accountId, '--at', 'position:9999'], /The newest position of the log is \d+\./],
    [[accountId, '--at', '2020-01-01'], /was opened later, at 20/],
    [[accountId, '--file', await exported(hide)], /unreadable CreditsGranted at revision 1/],
    [[accountId, '--file', await exported(forge)], /does not add up; run tollgate audit verify/],
  ] as const) {
    const { code, stderr } = await operator.run('audit', 'replay', ...args)
    t.equal(code, 2)
    t.match(stderr, told)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
  const { code, stderr } = await operator.run('audit', 'replay', accountId, '--at', 'yesterday')
  t.equal(code, 2)
  t.match(stderr, /must be a date/)
})

t.test('audit replay: text of a damaged log does not control the terminal, and the damage is told', async t => {
  const change = (lines: string[]) => lines.map(line => line.replace('"reason":"welcome"', '"reason":"\\u001b[2J"'))
  const args = ['audit', 'replay', customer.accountId, '--file', await exported(change)]
  const text = await operator.text(t, ...args)
  t.match(text, 'welcome granted: \\u001b[2J (welcome)')
  t.match(text, /\n\nThe chain of events is broken: 1 fault, first at revision 1: its link does not match/)
  t.match(await operator.json(t, ...args), { chain_is_whole: false, chain_faults: [{ revision: 1 }] })
})

t.test('audit explain: tells the story of a run, by either form of its ID, of the log and of a file', async t => {
  const text = await operator.text(t, 'audit', 'explain', run.run_id)
  t.match(text, `${run.run_id}: completed, nano-banana-2 (nano-banana-2-t2i)\n\nRequest\n`)
  t.match(text, /^ {2}time +20[-\d]+T[:.\d]+Z by key test \(…\w{4}\)$/m)
  t.match(text, /^ {2}idempotency key +order-4711$/m)
  t.match(text, /a lake…\s+\(700 characters\)$/m, 'a long text is shortened')
  t.match(text, 'note: \\u009b2J', 'and cannot control the terminal')
  t.match(text, /^ {2}base price +10$/m)
  t.match(text, /^ {2}= price +10\n\n {2}Credits used: 10 free\.$/m)
  t.match(text.replaceAll(/\s+/g, ' '), 'The price recomputed from the receipt and from this price list is the same.')
  t.match(text, /^ {2}20\S+Z +\+[\d.]+ s +completed +reactor$/m)
  t.match(text, /^ {2}text: done$/m)
  t.match(text, /^ {2}All links from revision 0 to \d+ were recomputed and are intact\.$/m)
  t.ok(
    text.split('\n').every(line => line.length <= 100),
    'it fits in 100 columns',
  )
  t.equal(await operator.text(t, 'audit', 'explain', TypeID.fromString(run.run_id).toUUID()), text)
  t.equal(await operator.text(t, 'audit', 'explain', run.run_id, '--file', await exported()), text)
})

t.test('audit explain: the JSON has everything in full', async t => {
  const explanation = await operator.json<Record<string, unknown>>(t, 'audit', 'explain', run.run_id)
  t.match(explanation, {
    ...{ run_id: run.run_id, account_id: customer.accountId, status: 'completed', model: 'nano-banana-2' },
    requested_by: { kind: 'key', name: 'test', key_id: customer.keyId },
    ...{ idempotency_key: 'order-4711', input: { prompt: longPrompt }, metadata, label: 'spring' },
    ...{ credits_used: 10, credits_used_free: 10, credits_used_paid: 0 },
    price: { credits: 10, lines: [{ kind: 'base', credits: 10 }, {}], agrees: true, faults: [] },
    steps: [{ state: 'processing', ms_since_step_before: 0 }, { state: 'completed' }],
    output: { files: [], text: 'done', deleted_at: null },
    ...{ error: null, refunds: [], webhook_url: null, webhook: [], chain_is_whole: true, chain_faults: [] },
  })
  const { events, account_head: head } = explanation as { events: object[]; account_head: object }
  t.match(
    events,
    ['CreditsDebited', 'RunStarted', 'RunCompleted'].map(type => ({ type, hash: String })),
  )
  t.same(head, events.at(-1))
})

t.test('audit explain: tells the tokens of a run, and the release of what they did not cost', async t => {
  const other = await openAccount(service)
  const { body } = await other.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello', max_output_tokens: 4096 } })
  const text = await operator.text(t, 'audit', 'explain', body.run_id)
  const [, price = '', final = ''] = /\nPrice\n(.*)\nSteps\n.*\nRelease\n(.*)\nEvents\n/s.exec(text) ?? []
  t.match(price, /^ {2}\+ 4,096 × 600 \/ 1,000,000 \(output tokens\) +2\.\d+$/m)
  t.match(final, /^ {2}\+ 1 × 600 \/ 1,000,000 \(output tokens\) +0\.\d+$/m)
  t.match(
    final,
    /^ {2}= final price +0\.\d+\n\n {2}The service counted the tokens\. The rest of the debit was released at/m,
  )
  t.ok(
    text.split('\n').every(line => line.length <= 100),
    'it fits in 100 columns',
  )
  const { release, usage, credits_used, refunds, events } = await operator.json<Explained>(
    t,
    'audit',
    'explain',
    body.run_id,
  )
  t.match(usage, { output: 1, counted: true })
  t.match(release, { price: { counted: true, lines: [{ tokens: 'input' }, {}, { tokens: 'output', count: 1 }, {}] } })
  t.equal(toMicros(credits_used) - toMicros(release.credits), toMicros(release.price.credits))
  t.same(refunds, [])
  const at = String(events.find(({ type }) => type === 'CreditsReleased')?.revision)
  const account = await operator.text(t, 'audit', 'replay', other.accountId, '--at', at)
  t.match(account, /^released +2\.\d+$/m)
})

interface Explained {
  release: { credits: number; price: { credits: number } }
  usage: object
  credits_used: number
  refunds: object[]
  events: { type: string; revision: number }[]
}

t.test('audit explain: an unknown run, or a log that cannot be read, ends with 2 and says why', async t => {
  const hide = (lines: string[]) => lines.map(line => line.replace('"reason":"welcome"', '"reasons":"\\u001b[2J"'))
  for (const [args, told] of [
    [['run_00000000000000000000000000'], /^The log has no run run_0+\.\n$/],
    [['00000000-0000-0000-0000-000000000000'], /^The log has no run run_0+\.\n$/],
    [['something'], /must be an ID such as run_/],
    [[run.run_id, '--file', join(folder, 'missing.jsonl')], /no such file/],
    [[run.run_id, '--file', await exported(hide)], /unreadable CreditsGranted at revision 1/],
  ] as const) {
    const { code, stdout, stderr } = await operator.run('audit', 'explain', ...args)
    t.same([code, stdout], [2, ''])
    t.match(stderr, told)
    t.notMatch(stderr, /^ +at /m, 'has no stack')
  }
})
