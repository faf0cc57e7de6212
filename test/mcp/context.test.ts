import { crc32 } from 'node:zlib'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { createCanvas, loadImage } from '@napi-rs/canvas'
import t from 'tap'
import type { KeyScope } from '../../schemas/actor.ts'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { Run } from '../../schemas/api/run.ts'
import { tools } from '../../src/mcp/tools.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { picture, sandbox } from '../support/client.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { call, connect, errorOf, post, request } from './support.ts'

// What tools put into the context of an agent.

const REVISION = '2026-07-28'
const service = await startService(t)
const customer = await openAccount(service, { tester: true, credits: 1000 })
const client = await connect(t, customer, REVISION)

const callFully = (name: string, args: object = {}) => client.callTool({ name, arguments: { ...args } })
const textOf = ({ content }: CallToolResult) =>
  content.flatMap(block => (block.type === 'text' ? [block.text] : [])).join('\n')
const imagesOf = ({ content }: CallToolResult) =>
  content.flatMap(block => (block.type === 'image' ? [{ ...block, bytes: Buffer.from(block.data, 'base64') }] : []))

t.test('the list of tools is under 24 KB', async t => {
  const { message } = await post(customer, request(REVISION, 'tools/list'))
  const { length } = Buffer.from(JSON.stringify(message.result.tools))
  t.ok(length < 24 * 1024, `${length} bytes`)
  t.equal(message.result.tools.length, tools.length)
})

t.test('an agent is sent to the short list of models first, and then to one family', async t => {
  const { tools: listed } = await client.listTools()
  const { description = '' } = listed.find(({ name }) => name === 'list_models') ?? {}
  t.match(description, /^Lists models\. First call this tool with brief: true .* Then call it with model /)
  const sizes = []
  for (const args of [{ brief: true }, { model: 'nano-banana-2' }, {}])
    sizes.push(JSON.stringify(await callFully('list_models', args)).length)
  const [brief = 0, one = 0, all = 0] = sizes
  t.ok(brief < all / 4 && one < all / 8, String(sizes))
})

t.test('a result matches the outline that its tool declares', async t => {
  const { tools: listed } = await client.listTools()
  const { body: run } = await call<Run>(client, 'run_model', sandbox())
  await call<Run>(client, 'run_model', sandbox({ outcome: 'provider_error' }))
  const args: Record<string, object> = {
    run_model: picture,
    quote_run: picture,
    get_run: { run_id: run.run_id },
    explain_charge: { run_id: run.run_id },
    create_upload: { filename: 'a.png', mime_type: 'image/png' },
  }
  for (const { name, outputSchema } of listed) {
    if (name === 'cancel_run') continue
    const { structuredContent } = await callFully(name, args[name])
    t.same(compileCheck(outputSchema ?? {})(structuredContent), [], name)
  }
})

t.test('the text of a result is a summary of it', async t => {
  const { body: run } = await call<Run>(client, 'run_model', picture)
  const url = run.output?.url ?? 'none'
  t.match(
    textOf(await callFully('get_run', { run_id: run.run_id })),
    `Run ${run.run_id} of nano-banana-2-t2i: completed`,
  )
  t.match(textOf(await callFully('get_run', { run_id: run.run_id })), url, 'it has the address of the picture')
  t.match(textOf(await callFully('list_runs')), run.run_id)
  t.match(textOf(await callFully('get_balance')), /^The balance is [\d.]+ credits\.$/)
  t.match(textOf(await callFully('quote_run', picture)), 'A run of nano-banana-2-t2i costs 10 credits.\nbase price: 10')
  const dear = { model: 'nano-banana-2', input: { prompt: 'a lake', resolution: '2K', enable_web_search: true } }
  t.match(textOf(await callFully('quote_run', dear)), '× 1.5 (resolution is 2K)\n+ 1.5 (enable_web_search)')
  t.match(
    textOf(await callFully('list_models', { model: 'nano-banana-2' })),
    'credits: 10 × num_images × resolution (1K: 1, 2K: 1.5, 4K: 2) + 1.5 if enable_web_search is true',
  )
  t.match(textOf(await callFully('explain_charge', { run_id: run.run_id })), 'base price: 10')
  t.match(textOf(await callFully('get_statement')), new RegExp(`debit -10 .*${run.run_id}`))
  t.match(textOf(await callFully('get_usage')), /runs, \d+ failures, [\d.]+ credits/)
  t.match(
    textOf(await callFully('create_upload', { filename: 'a.png', mime_type: 'image/png' })),
    /^PUT the file to http/,
  )
  const failed = await callFully('run_model', sandbox({ outcome: 'content_rejected' }))
  t.match(textOf(failed), /failed, 1 credits charged, 1 refunded\.\ncontent_rejected: /)
  const said = await callFully('run_model', sandbox())
  t.match(textOf(said), 'Sandbox heard: hello')
  const functions = [{ type: 'function', function: { name: 'look_up' } }]
  const asked = { messages: [{ role: 'user', content: 'Look it up.' }], tools: functions, tool_choice: 'required' }
  t.match(
    textOf(await callFully('run_model', { model: 'gpt-6-1-terra', input: asked })),
    /completed, [\d.]+ credits charged, [\d.]+ released\.\ntool call \w+: look_up \{\}$/,
  )

  const all = await callFully('list_models')
  t.ok(textOf(all).length < JSON.stringify(all.structuredContent).length / 20)
  t.equal(
    textOf(all)
      .split('\n')
      .filter(line => line.startsWith('veo-3-1 (video')).length,
    1,
  )
  const one = textOf(await callFully('list_models', { model: 'nano-banana-2' }))
  t.match(one, /nano-banana-2-t2i \(sync\): prompt \(string, required\); .*resolution \(1K \| 2K \| 4K, default 1K\)/)
})

t.test('a long text is cut in the summary, and whole in the structure', async t => {
  const prompt = 'x'.repeat(5000)
  const result = await callFully('run_model', sandbox({ prompt }))
  t.match((result.structuredContent as unknown as Run).output?.text, prompt)
  t.ok(textOf(result).length < 2300)
  t.match(textOf(result), 'full text is in output.text')
})

t.test('pictures come back as images of at most 512 pixels beside their links', async t => {
  for (const [input, width, height] of [
    [{ aspect_ratio: '16:9', num_images: 2 }, 512, 286],
    [{ aspect_ratio: '1:8', output_format: 'webp' }, 64, 512],
  ] as const) {
    const run = await callFully('run_model', { ...picture, input: { ...picture.input, ...input } })
    const again = await callFully('get_run', { run_id: (run.structuredContent as unknown as Run).run_id })
    for (const result of [run, again]) {
      const links = result.content.filter(({ type }) => type === 'resource_link')
      const images = imagesOf(result)
      t.equal(images.length, links.length)
      for (const { mimeType, bytes } of images) {
        t.equal(mimeType, 'image/jpeg')
        const image = await loadImage(bytes)
        t.ok(
          Math.abs(image.width - width) <= 4 && Math.abs(image.height - height) <= 4,
          `${image.width}×${image.height}`,
        )
        t.ok(bytes.length < 120_000, `${bytes.length} bytes`)
      }
    }
  }
  t.same(imagesOf(await callFully('run_model', sandbox())), [], 'a text has none')
})

t.test('a picture that cannot be scaled down is left out, and its link stays', async t => {
  const whole = createCanvas(8, 8).toBuffer('image/png')
  // It says that it is larger than anything that is decoded.
  const huge = Buffer.from(whole)
  huge.writeUInt32BE(20_000, 16)
  huge.writeUInt32BE(20_000, 20)
  huge.writeUInt32BE(crc32(huge.subarray(12, 29)), 29)
  for (const [bytes, count] of [
    [whole, 1],
    [huge, 0],
  ] as const) {
    const provider: Provider = {
      ...instantProvider,
      submit: async () => ({ kind: 'done', media: [{ mimeType: 'image/png', bytes: new Uint8Array(bytes) }] }),
    }
    const other = await startService(t, { providers: { sandbox: provider } })
    const connected = await connect(t, await openAccount(other), REVISION)
    const result = await connected.callTool({ name: 'run_model', arguments: { ...picture } })
    t.equal(imagesOf(result).length, count)
    t.equal(result.content.filter(({ type }) => type === 'resource_link').length, 1)
  }
})

t.test('a key is shown exactly the tools that it may call', async t => {
  const ofScope = async (scope: KeyScope) => {
    const key = await openKey(service, customer, { scope })
    const connected = await connect(t, key, REVISION)
    const shown = (await connected.listTools()).tools.map(({ name }) => name)
    const refused = []
    for (const { name } of tools) {
      const { message } = await post(
        key,
        request(REVISION, 'tools/call', { name, arguments: anyArguments[name] ?? {} }),
      )
      const { code } = message.result.isError ? errorOf(message.result) : ({} as ErrorBody['error'])
      if (code === 'forbidden') refused.push(name)
    }
    return { shown, refused, instructions: connected.getInstructions() ?? '' }
  }
  const full = await ofScope('full')
  t.same([full.shown, full.refused], [tools.map(({ name }) => name), []])
  const read = await ofScope('read')
  t.same(read.refused, ['run_model', 'cancel_run', 'create_upload'])
  t.same([...read.shown, ...read.refused].sort(), tools.map(({ name }) => name).sort())
  for (const name of read.refused) t.notMatch(read.instructions, name)
})

const unknownRun = { run_id: 'run_01m7z4hp40enbs019v3tcadvdx' }
const anyArguments: Record<string, object> = {
  run_model: sandbox(),
  quote_run: sandbox(),
  get_run: unknownRun,
  cancel_run: unknownRun,
  explain_charge: unknownRun,
  create_upload: { filename: 'a.png', mime_type: 'image/png' },
}
