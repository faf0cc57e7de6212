import OpenAI from 'openai'
import t from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import { auditFolder } from '../../support/ledger.ts'
import { type Customer, openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { anthropicKey } from '../../support/vendors/anthropic.ts'
import { googleKey } from '../../support/vendors/google.ts'
import { KEY } from '../../support/vendors/openai.ts'
import { answerLike, dialects, type Script, sendEvents } from '../../support/vendors/streams.ts'
import { type Handler, reply } from '../../support/vendors/vendor-server.ts'

/** How the service finds each vendor, and a model that it runs. */
const settings = {
  OpenAI: { model: 'gpt-6-1-terra', url: 'OPENAI_BASE_URL', key: { OPENAI_API_KEY: KEY } },
  Anthropic: { model: 'claude-haiku-4-5', url: 'ANTHROPIC_BASE_URL', key: { ANTHROPIC_API_KEY: anthropicKey } },
  Google: { model: 'gemini-3-flash', url: 'GOOGLE_BASE_URL', key: { GOOGLE_API_KEY: googleKey } },
}

const script: Script = { pieces: ['A led', 'ger – ', 'wörld 😀'], thinks: true, counts: [{ input: 900, output: 700 }] }
const text = script.pieces.join('')

for (const dialect of dialects) {
  const { name } = dialect
  const { model, url, key } = settings[name as keyof typeof settings]
  const usual = answerLike(dialect, script)
  let answer: Handler = usual
  const { server } = await dialect.start(t, (request, response) => answer(request, response))
  const folder = await temporaryFolder(t)
  const service = await startService(t, { folder, environment: { ...key, [url]: server.url } })

  const open = async (options: object = {}) => {
    const owner = await openAccount(service)
    return {
      owner,
      client: new OpenAI({ baseURL: `${owner.url}/v1`, apiKey: owner.apiKey, maxRetries: 0, ...options }),
    }
  }
  const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs')).body.data
  const asked = { model, messages: [{ role: 'user' as const, content: 'What is a ledger?' }] }
  const streamed = { ...asked, stream: true, stream_options: { include_usage: true } } as const

  t.test(
    `${name}: a stream of the vendor reaches the official client, and costs as much as a whole answer`,
    async t => {
      const { owner, client } = await open()
      const pieces: string[] = []
      let usage: OpenAI.CompletionUsage | null | undefined
      const finishes: unknown[] = []
      for await (const chunk of await client.chat.completions.create(streamed)) {
        const [choice] = chunk.choices
        if (choice?.delta.content) pieces.push(choice.delta.content)
        if (choice?.finish_reason) finishes.push(choice.finish_reason)
        usage = chunk.usage
      }
      t.equal(pieces.join(''), text)
      t.same(finishes, ['stop'])
      t.match(usage, { prompt_tokens: 900, completion_tokens: 700, total_tokens: 1600 })
      const spent = 100 - (await owner.balance())
      const whole = await client.chat.completions.create(asked)
      t.match(whole, { choices: [{ message: { content: text }, finish_reason: 'stop' }] })
      t.same({ ...whole.usage, run_id: '' }, { ...usage, run_id: '' })
      t.ok(spent > 0)
      t.equal((100 - (await owner.balance())).toFixed(6), (2 * spent).toFixed(6))
      t.equal(spent.toFixed(6), Number(Object(usage).credits).toFixed(6))
    },
  )

  t.test(`${name}: an answer that is cut off at its limit says so`, async t => {
    answer = answerLike(dialect, { ...script, isCut: true })
    const { client } = await open()
    const { choices } = await client.chat.completions.stream(asked).finalChatCompletion()
    answer = usual
    t.match(choices, [{ finish_reason: 'length', message: { content: text } }])
  })

  t.test(`${name}: pieces arrive while the vendor goes on`, async t => {
    const events = dialect.events(script)
    const shown = events.findIndex(each => each.text !== undefined) + 1
    let goOn = () => {}
    const wait = new Promise<void>(resolve => {
      goOn = resolve
    })
    answer = async (_, response) => {
      await sendEvents(response, events.slice(0, shown))
      await wait
      await sendEvents(response, events.slice(shown))
      response.end()
    }
    const { client } = await open()
    let read = ''
    for await (const { choices } of await client.chat.completions.create(streamed)) {
      read += choices[0]?.delta.content ?? ''
      if (read === script.pieces[0]) goOn()
    }
    answer = usual
    t.equal(read, text)
  })

  t.test(`${name}: a client that leaves stops the vendor, and pays for what it got`, async t => {
    const events = dialect.events(script)
    const shown = events.findIndex(each => each.text !== undefined) + 1
    let isStopped = false
    answer = async (_, response) => {
      response.on('close', () => {
        isStopped = true
      })
      await sendEvents(response, events.slice(0, shown))
    }
    const { owner, client } = await open()
    for await (const { choices } of await client.chat.completions.create(streamed)) if (choices[0]?.delta.content) break
    await until('the run has ended', async () => (await runsOf(owner))[0]?.status === 'completed')
    await until('the vendor is stopped', () => isStopped)
    answer = usual
    const [run] = await runsOf(owner)
    t.match(run, { finish_reason: 'cancelled', output: { text: script.pieces[0] } })
    const spent = 100 - (await owner.balance())
    t.ok(spent > 0 && spent < (run?.credits_charged ?? 0))
  })

  t.test(`${name}: errors of the vendor reach the client, and cost nothing`, async t => {
    const { owner, client } = await open()
    answer = (_, response) => reply(response, 400, dialect.error(400))
    const early = client.chat.completions.create(streamed)
    await t.rejects(early, { status: 400, code: 'invalid_input', message: /does not accept/ })
    const events = dialect.events(script)
    const shown = events.findIndex(each => each.text !== undefined) + 1
    answer = async (_, response) => {
      await sendEvents(response, [
        ...events.slice(0, shown),
        { lines: [`data: ${JSON.stringify(dialect.error(500))}`] },
      ])
      response.end()
    }
    const read: string[] = []
    const stream = async () => {
      for await (const { choices } of await client.chat.completions.create(streamed))
        if (choices[0]?.delta.content) read.push(choices[0].delta.content)
    }
    await t.rejects(stream(), { code: 'provider_error', message: /./ })
    answer = usual
    t.same(read, script.pieces.slice(0, 1))
    await until('the run has failed', async () => (await runsOf(owner)).every(({ status }) => status === 'failed'))
    t.equal(await owner.balance(), 100)
  })

  t.test(`${name}: the books are in order`, async t => {
    await service.stop()
    t.same((await auditFolder(folder)).faults, [])
  })
}
