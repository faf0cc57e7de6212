import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { InclusionProof, Proof } from '../../../schemas/proof.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { sealName } from '../../../src/services/seals/seals.ts'
import { findPython, needsPython } from '../../support/checkers.ts'
import { collect } from '../../support/collect.ts'
import { operatorOf } from '../../support/operator.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

const pair = generateKeyPairSync('ed25519')
const folder = await temporaryFolder(t)
const service = await startService(t, {
  folder,
  providers: { sandbox: instantProvider },
  environment: {
    SEAL_EVENTS: '10',
    SEAL_KEY: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  },
})
const customer = await openAccount(service)
const { body: run } = await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })
for (let index = 0; index < 10; index++) await customer.run({ model: 'gpt-6-1-terra', input: { prompt: 'hello' } })
const sealsOf = async () =>
  (await collect(service.core.log.readStream('seals', 0))).filter(({ type }) => type === 'LogSealed')
await until('several seals cover the run', async () => (await sealsOf()).length > 6)
const newest = (await sealsOf()).at(-1)?.revision as number

const operator = operatorOf(folder)
const paths = { key: join(folder, 'key.pem'), proof: join(folder, 'proof.json') }
await writeFile(paths.key, pair.publicKey.export({ type: 'spki', format: 'pem' }))

const prove = async (...args: string[]): Promise<Proof> => JSON.parse(await operator.text(t, 'audit', 'prove', ...args))

const CONSISTENCY = '; a proof of consistency from the earlier to the later one shows whether both are of one log'

t.test('a proof of each kind is made beside the service, and each program finds it right', needsPython, async t => {
  const find = async (searched: string) =>
    (await collect(service.core.log.readAll(BEFORE_FIRST))).find(({ type }) => type === searched)
  const [event, grant] = [await find('AccountOpened'), await find('CreditsGranted')]
  const [debited, after] = [run.credits_charged, 100 - run.credits_charged]
  for (const [args, first, second] of [
    [
      ['--run', run.run_id],
      /^right: CreditsDebited, event \d+ of account-acct_\w+, is sealed$/,
      `credits: ${debited} debited for ${run.run_id} of ${run.model}, ${after} after`,
    ],
    [['--event', grant?.id as string], /^right: CreditsGranted, event 1 of/, 'credits: 100 granted, 100 after'],
    [['--event', event?.id as string], /^right: AccountOpened, event 0 of account-acct_\w+, is sealed$/],
    [['--event', event?.id as string, '--at', `${newest - 1}`], /^right: AccountOpened/],
    [
      ['--account', customer.accountId],
      /^right: acct_\w+ has \d+ events up to the seal, all here$/,
      'event 1: 100 granted, 100 after',
    ],
    [
      ['--account', customer.accountId, '--from', `${newest - 2}`, '--to', `${newest}`],
      /^right: acct_\w+ has \d+ events between the seals, all here$/,
    ],
    [['--seals', '1', `${newest}`], RegExp(`^right: seal ${newest} extends seal 1$`)],
  ] as const) {
    t.equal((await operator.run('audit', 'prove', ...args, '--output', paths.proof)).stdout, '')
    const lines = (await operator.text(t, 'audit', 'check', paths.proof, '--key', paths.key)).trimEnd().split('\n')
    t.match(lines[0], first)
    if (second) t.equal(lines[1], second)
    else t.notMatch(lines[1], /^credits:/)
    t.match(lines.at(-1), /^To compare with a seal/)
    const [, seal = ''] = /^seal (\S+) of/.exec(lines.at(-2) ?? '') ?? []
    const kept = await operator.text(t, 'audit', 'check', paths.proof, '--key', paths.key, '--seal', seal)
    t.same(kept.trimEnd().split('\n'), lines.slice(0, -1))
    const all = await output('python3', PYTHON, paths.proof, '--key', paths.key)
    t.same(all, { code: 0, stderr: '', stdout: `${lines.join('\n')}\n` })
  }
})

t.test('a proof about another seal than the kept one is wrong, and says which', needsPython, async t => {
  await writeFile(paths.proof, JSON.stringify(await prove('--run', run.run_id, '--at', `${newest}`)))
  const seal = sealName((await sealsOf()).find(({ revision }) => revision === newest)?.data as LogSealed)
  for (const number of ['999', newest]) {
    for (const [digest, old] of [
      [`sha256-${'a'.repeat(64)}`, ''],
      ['a'.repeat(64), '; no signature covers such an old name, so it may be forged'],
    ]) {
      const other = `${number}:${digest}`
      const hint = `${old}${number === '999' ? CONSISTENCY : ''}`
      const stdout = `wrong: it is about seal ${seal}, and not about seal ${other}, which was kept${hint}\n`
      const options = [paths.proof, '--key', paths.key, '--seal', other]
      t.match(await operator.run('audit', 'check', ...options), { code: 1, stdout })
      t.same(await output('python3', PYTHON, ...options), { code: 1, stdout, stderr: '' })
    }
  }
})

t.test('an exported log gives the same proof', async t => {
  const exported = join(folder, 'log.jsonl')
  const events = await collect(service.core.log.readAll(BEFORE_FIRST))
  await writeFile(exported, events.map(event => `${JSON.stringify(event)}\n`).join(''))
  const args = ['--run', run.run_id, '--at', `${newest}`]
  t.same(await prove(...args, '--file', exported), await prove(...args))
})

t.test('what cannot be proved is said', async t => {
  for (const [args, message] of [
    [[], /^Name what to prove: one of --run/],
    [['--run', run.run_id, '--account', customer.accountId], /^Name what to prove/],
    [['--run', 'run_1'], /^--run must be an ID/],
    [['--run', 'run_01m820bnqkfvgrrkb8dhy3yd82'], /^The log has no run run_01m820bnqkfvgrrkb8dhy3yd82/],
    [['--event', 'none'], /^The log has no event none/],
    [['--run', run.run_id, '--at', '1'], /^Seal 1 does not cover the event yet/],
    [['--run', run.run_id, '--at', '0'], /^The log has no seal 0; its newest is seal \d+\./],
    [
      ['--run', run.run_id, '--at', `1:${'a'.repeat(64)}`],
      /^Seal 1 of the log is 1:sha256-\w+, not the seal that you named/,
    ],
    [['--run', run.run_id, '--at', 'x'], /^--at must be the number of a seal/],
    [['--run', run.run_id, '--from', '1'], /^--from and --to need --account/],
    [['--account', customer.accountId, '--at', '1'], /^--at needs --run or --event/],
    [['--account', customer.accountId, '--from', '2', '--to', '1'], /^Name the earlier seal as --from/],
    [['--account', 'acct_1'], /^Seal \d+ covers no event of the account/],
    [['--seals', '1'], /^--seals needs two seals/],
    [['--seals', '2', '1'], /^Name the earlier seal first/],
    [['--run', run.run_id, '--output', folder], /^The proof cannot be written: EISDIR/],
  ] as const) {
    const { code, stderr } = await operator.run('audit', 'prove', ...args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
  }
})

t.test('a file without a public key is refused with the way to get one', needsPython, async t => {
  const secret = join(folder, 'secret.pem')
  await writeFile(secret, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const withPrivate = await operator.run('audit', 'check', paths.proof, '--key', secret)
  t.match(withPrivate, {
    code: 2,
    stderr: /has a private key, not a public key\. Print .* "openssl pkey -in .* -pubout"/,
  })
  for (const [program, script] of scripts) {
    const { code, stderr } = await output(program, script, paths.proof, '--key', secret)
    t.equal(code, 2, script)
    t.match(stderr, /no Ed25519 public key; "openssl pkey -in .* -pubout" prints that of a private one/, script)
  }
  const withNone = await operator.run('audit', 'check', paths.proof, '--key', paths.proof)
  t.match(withNone, { code: 2, stderr: /no Ed25519 public key\. Use a key in PEM, or the JSON of GET/ })
})

t.test('a wrong proof exits with 1, and what cannot be read with 2', needsPython, async t => {
  const wrong = join(folder, 'wrong.json')
  await writeFile(wrong, JSON.stringify({ ...(await prove('--run', run.run_id)), kind: 'statement' }))
  const what = 'wrong: it is no tollgate-proof of version 1 in the documented form\n'
  const check = ['audit', 'check']
  t.match(await operator.run(...check, wrong, '--key', paths.key), { code: 1, stdout: what })
  for (const [program, script] of scripts)
    t.match(await output(program, script, wrong, '--key', paths.key), { code: 1, stdout: what })
  for (const args of [
    [join(folder, 'none'), '--key', paths.key],
    [wrong, '--key', join(folder, 'none')],
    [wrong, '--key', wrong],
    [wrong, '--key', paths.key, '--seal', '1'],
  ]) {
    t.match(await operator.run(...check, ...args), { code: 2, stdout: '' })
    for (const [program, script] of scripts) t.match(await output(program, script, ...args), { code: 2, stdout: '' })
  }
})

t.test('the examples are right, as the page says', needsPython, async t => {
  const page = await readFile('docs/verify/README.md', 'utf8')
  const commands = [...page.matchAll(/^(python3|node) (verify\.\w+) (examples\S+) --key (\S+) --seal (\S+)$/gm)]
  t.equal(commands.length, 2)
  for (const [, program = '', script = '', proof = '', key = '', seal = ''] of commands) {
    const args = [`docs/verify/${script}`, `docs/verify/${proof}`, '--key', `docs/verify/${key}`, '--seal', seal]
    t.match(await output(program, ...args), { code: 0, stdout: /^right: / })
  }
})

t.test('a seal with another link is shown by what its signature covers, or refused', needsPython, async t => {
  const check = async (example: string) => {
    const args = [`docs/verify/examples/${example}.json`, '--key', 'docs/verify/examples/keys.json']
    const ends = [await operator.run('audit', 'check', ...args), await output('python3', PYTHON, ...args)]
    return ends.map(({ code, stdout }) => ({ code, stdout }))
  }
  const refusal = { code: 1, stdout: 'wrong: seal 3 does not cover seal 1\n' }
  t.same(await check('forged-consistency-earlier'), Array(2).fill(refusal))
  const noProof = { code: 1, stdout: 'wrong: it is no tollgate-proof of version 1 in the documented form\n' }
  t.same(await check('forged-text'), Array(2).fill(noProof), 'half of a character in place of a "?"')
  for (const [forged, honest] of [
    ['forged-inclusion', 'inclusion'],
    ['forged-consistency-later', 'consistency'],
    ['forged-statement', 'statement-part'],
  ] as const)
    t.same(await check(forged), await check(honest), forged)
})

t.test('a seal that was kept by its link is found, and its name is told', needsPython, async t => {
  const text = await readFile('docs/verify/examples/inclusion.json', 'utf8')
  const { link, dataText } = (JSON.parse(text) as InclusionProof).seal
  const name = sealName(JSON.parse(dataText))
  const args = ['docs/verify/examples/inclusion.json', '--key', 'docs/verify/examples/keys.json', '--seal', `3:${link}`]
  const caveat = `No signature covers the old name 3:${link}: keep ${name} instead.`
  for (const { code, stdout } of [
    await operator.run('audit', 'check', ...args),
    await output('python3', PYTHON, ...args),
  ]) {
    t.equal(code, 0)
    t.match(stdout, `seal ${name} of 2026-11-22T16:20:00.000Z\n${caveat}\n`)
  }
})

const PYTHON = 'docs/verify/verify.py'

/** The command of the service runs the second one too. */
const scripts = [
  ['python3', PYTHON],
  ['node', 'docs/verify/verify.mjs'],
] as const

/** Runs a script for customers, without the modules that tests preload. */
function output(program: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { NODE_OPTIONS: _, ...env } = process.env
  return new Promise(resolve => {
    const options = { env: { ...env, PYTHONDONTWRITEBYTECODE: '1' } }
    execFile(program === 'node' ? process.execPath : findPython(), args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}
