import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { tsImport } from 'tsx/esm/api'
import examples from '../../schemas/api/examples.json' with { type: 'json' }
import type { Run, RunList, RunRequest } from '../../schemas/api/run.ts'
import { picture } from '../support/client.ts'
import { makeClientTypes } from '../support/make-client-types.ts'
import { needsOutside } from '../support/outside.ts'
import { node } from '../support/program.ts'
import { openAccount, startService } from '../support/service.ts'
import { ProgramProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The output of the project's TypeScript compiler. */
const compile = (tsconfig: string): Promise<string> =>
  new Promise(resolve => {
    execFile('node_modules/.bin/tsc', ['-p', tsconfig], (_, stdout) => resolve(stdout))
  })

const service = await startService(t)

/** Imports the client at run time, because its types may not be generated yet. */
const importClient = async (): Promise<ExampleClient> =>
  (await tsImport(resolve('docs/client/tollgate.ts'), import.meta.url)).Tollgate

/** Runs the example program. */
const runExample = (apiKey: string) =>
  new ProgramProcess([...node, '--import=tsx', 'docs/client/example.ts'], {
    TOLLGATE_URL: service.url,
    TOLLGATE_API_KEY: apiKey,
  }).ended

t.test('the client and its types compile', needsOutside('openapi-typescript'), async t => {
  const customer = await openAccount(service)
  await makeClientTypes((await customer.send('/v1/openapi.json')).text)
  t.equal(await compile('docs/client'), '')

  const folder = await temporaryFolder(t)
  const tsconfig = {
    extends: resolve('docs/client/tsconfig.json'),
    compilerOptions: { types: [] },
    include: [resolve('docs/client/api.d.ts'), 'misuse.mts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  await writeFile(join(folder, 'misuse.mts'), misuse)
  t.equal(await compile(folder), '', 'invalid requests do not compile')
})

t.test('the program creates a picture, edits one and creates a video', async t => {
  const customer = await openAccount(service)
  const { code, stdout, stderr } = await runExample(customer.apiKey)
  t.equal(stderr, '')
  t.equal(code, 0)

  const { data } = (await customer.send<RunList>('/v1/runs')).body
  t.same(
    data.map(({ endpoint, status }) => `${endpoint} ${status}`),
    ['gemini-omni-flash-t2v completed', 'nano-banana-2-i2i completed', 'z-image-turbo-t2i completed'],
  )
  const [video, winter, first] = data as [Run, Run, Run]
  t.same(stdout.trim().split('\n'), [
    `An image for ${first.credits_charged} credits: ${first.output?.url}`,
    `The same lake in winter: ${winter.output?.url}`,
    `A video: ${video.output?.url}`,
    `${await customer.balance()} credits are left.`,
  ])
  t.same(video.metadata, { order: 17 })
})

t.test('the program states the price of a run that the account cannot afford', async t => {
  const customer = await openAccount(service, { credits: 0.5 })
  const { code, stdout } = await runExample(customer.apiKey)
  t.equal(code, 1)
  t.match(stdout, /^The run costs [\d.]+ credits, but only 0\.5 are left\.$/m)
  t.equal(await customer.balance(), 0.5)
})

t.test('the program prints other errors as the API words them', async t => {
  const { code, stdout } = await runExample('tg_sk_live_unknown')
  t.equal(code, 1)
  t.match(stdout, /^invalid_api_key: This API key is unknown or was revoked\. \(request \S+\)$/m)
})

t.test('requests without an answer or with 503 are repeated and charged once', async t => {
  const customer = await openAccount(service)
  const proxy = await startProxy(t, answer => answer.destroy(), busy)
  const Tollgate = await importClient()
  const tollgate = new Tollgate({ baseUrl: proxy.url, apiKey: customer.apiKey })
  const { run_id } = await tollgate.run(picture)
  t.equal(proxy.requestCount(), 3)
  const { data } = (await customer.send<RunList>('/v1/runs')).body
  t.same(
    data.map(run => run.run_id),
    [run_id],
  )
  t.equal(await customer.balance(), 90)
})

t.test('the client gives up after five attempts', async t => {
  const customer = await openAccount(service)
  const Tollgate = await importClient()
  const proxy = await startProxy(t, ...Array.from({ length: 10 }, () => busy))
  const tollgate = new Tollgate({ baseUrl: proxy.url, apiKey: customer.apiKey })
  await t.rejects(tollgate.run(picture), { name: 'TollgateError', fault: examples.errors.unavailable.error })
  t.equal(proxy.requestCount(), 5)
})

/** A proxy to the service that replaces the answers to the first requests. */
const startProxy = async (t: Test, ...replacements: ((answer: ServerResponse) => void)[]) => {
  let requestCount = 0
  const proxy = createServer(async (request, answer) => {
    const { method = 'GET', url = '', headers } = request
    const { authorization = '', 'idempotency-key': key = '' } = headers as Record<string, string>
    const sent = { authorization, 'idempotency-key': key, 'content-type': 'application/json' }
    const forwarded = await fetch(service.url + url, { method, headers: sent, body: await buffer(request) })
    const body = await forwarded.text()
    const replacement = replacements[requestCount++]
    if (replacement) replacement(answer)
    else answer.writeHead(forwarded.status, { 'Content-Type': 'application/json' }).end(body)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, requestCount: () => requestCount }
}

const busy = (answer: ServerResponse) =>
  answer
    .writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '0' })
    .end(JSON.stringify(examples.errors.unavailable))

type ExampleClient = new (of: { baseUrl: string; apiKey: string }) => { run(body: RunRequest): Promise<Run> }

/** Every marked line must fail to compile; the compiler reports marks without an error. */
const misuse = `
import type { components } from ${JSON.stringify(resolve('docs/client/api.d.ts'))}
type Ask = components['schemas']['RunRequest']
export const right: Ask = { model: 'nano-banana-2', input: { prompt: 'a lake', resolution: '2K', num_images: 2 } }
export const change: Ask = { model: 'nano-banana-2', input: { prompt: 'winter', image_url: 'https://example.com/a.jpg' } }
// @ts-expect-error there is no such model
export const model: Ask = { model: 'nano-banana-3', input: { prompt: 'a lake' } }
// @ts-expect-error there is no such parameter
export const name: Ask = { model: 'nano-banana-2', input: { prompt: 'a lake', resolutoin: '2K' } }
// @ts-expect-error there is no such value
export const value: Ask = { model: 'nano-banana-2', input: { prompt: 'a lake', resolution: '8K' } }
// @ts-expect-error the parameter belongs to another model
export const other: Ask = { model: 'nano-banana-2', input: { prompt: 'a lake', duration: 4 } }
// @ts-expect-error the prompt is missing
export const empty: Ask = { model: 'veo-3-1', input: {} }
export const isLast = (run: components['schemas']['Run']) => run.status === 'completed' || run.status === 'failed'
// @ts-expect-error there is no such status
export const isDone = (run: components['schemas']['Run']) => run.status === 'done'
`
