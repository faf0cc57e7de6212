import { access } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { operatorOf } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { FAL_KEY, startFal } from '../../support/vendors/fal.ts'
import { KEY, startOpenAi } from '../../support/vendors/openai.ts'
import { REPLICATE_KEY, startReplicate } from '../../support/vendors/replicate.ts'
import { deadAddress } from '../../support/vendors/vendor-parts.ts'
import { reply } from '../../support/vendors/vendor-server.ts'

const openAi = await startOpenAi(t)
const fal = await startFal(t)
const replicate = await startReplicate(t)
const WRONG = 'sk-wrong-0987654321'
const stubs = {
  OPENAI_BASE_URL: openAi.url,
  ...{ FAL_KEY, FAL_BASE_URL: fal.url },
  ...{ REPLICATE_API_TOKEN: REPLICATE_KEY, REPLICATE_BASE_URL: replicate.url },
}

/** Runs the check in a new folder. Checks that its output shows no key. */
const check = async (t: Test, environment: Record<string, string>, ...args: string[]) => {
  const folder = await temporaryFolder(t)
  const end = await operatorOf(folder, environment).run('providers', 'check', ...args)
  for (const key of [KEY, WRONG, FAL_KEY, FAL_KEY.split(':')[1] as string, REPLICATE_KEY])
    t.notOk(`${end.stdout}${end.stderr}`.includes(key), 'no key is shown')
  await t.rejects(access(join(folder, 'log')), { code: 'ENOENT' }, 'no log is opened')
  return end
}

t.test('what works is said for each account, and exits with 0', async t => {
  const { code, stdout, stderr } = await check(t, { OPENAI_API_KEY: KEY, ...stubs })
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^openai +[0-9a-f]{8} +works\nreplicate +[0-9a-f]{8} +works\nfal +[0-9a-f]{8} +works\n$/)
})

t.test('an account that does not work is reported in helpful words, and exits with 1', async t => {
  const environment = { OPENAI_API_KEY: `${KEY},${WRONG}`, ...stubs }
  const { code, stdout, stderr } = await check(t, environment, 'openai')
  t.same({ code, stderr }, { code: 1, stderr: '' })
  const [works, fails, ...others] = stdout.split('\n')
  t.match(works, /^openai +[0-9a-f]{8} +works$/)
  t.match(fails, /^openai +[0-9a-f]{8} +does not work: OpenAI refuses the key; check OPENAI_API_KEY/)
  t.same(others, [''], 'only the provider that was named')
  const json = await check(t, environment, 'openai', '--json')
  t.equal(json.code, 1)
  t.match(JSON.parse(json.stdout), [
    { provider: 'openai', account: /^[0-9a-f]{8}$/, works: true, fault: null },
    { provider: 'openai', account: /^[0-9a-f]{8}$/, works: false, fault: /refuses the key/ },
  ])
})

t.test('a provider that cannot be reached is reported, and so is a provider that repeats the key', async t => {
  const away = await check(t, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: await deadAddress() })
  t.equal(away.code, 1)
  t.match(away.stdout, /OpenAI cannot be reached; check the network and OPENAI_BASE_URL/)
  openAi.answer = response => reply(response, 500, { error: { message: `no\u001b[2J ${KEY} here`, type: 'x' } })
  const broken = await check(t, { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: openAi.url })
  t.equal(broken.code, 1)
  t.match(broken.stdout, /does not work: OpenAI is overloaded or down/)
  t.notOk(broken.stdout.includes('\u001b'), 'nothing controls the terminal')
})

t.test('without a key there is nothing to check, which exits with 2', async t => {
  const none = await check(t, {})
  t.same([none.code, none.stdout], [2, ''])
  t.match(none.stderr, /^No provider has a key\. Set one of OPENAI_API_KEY, ANTHROPIC_API_KEY, /)
  const other = await check(t, { OPENAI_API_KEY: KEY }, 'replicate')
  t.same([other.code, other.stderr], [2, 'replicate has no key. Set REPLICATE_API_TOKEN.\n'])
  const unknown = await check(t, { OPENAI_API_KEY: KEY }, 'sandbox')
  t.equal(unknown.code, 1)
  t.match(unknown.stderr, /no provider sandbox to check\. Choose one of openai, anthropic/)
})
