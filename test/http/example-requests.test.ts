import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import type { Run } from '../../schemas/api/run.ts'
import { clientExamples, type ExampleRun } from '../../src/services/catalog/example-request.ts'
import { needsPrograms } from '../support/needs.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

/** A prompt with everything that a shell or a language gives a meaning to. */
const AWKWARD = 'It\'s a "lake" – $HOME `id` \\n\nat 100 % {sunrise} 🌄 #1 \u0024{x} </script>'

type Sample = Omit<ExampleRun, 'url' | 'isAsync'> & { isAsync?: boolean }

const samples: Record<string, Sample> = {
  image: {
    model: 'nano-banana-2',
    outputType: 'image',
    input: { prompt: AWKWARD, num_images: 2, output_format: 'jpeg', enable_web_search: true, seed: 7 },
  },
  text: {
    model: 'gpt-6-1-terra',
    outputType: 'text',
    input: { prompt: AWKWARD, reasoning_effort: 'low', parallel_tool_calls: false, max_output_tokens: 64 },
  },
  speech: {
    model: 'minimax-speech-2-6',
    outputType: 'audio',
    input: { text: 'Hello', speed: 1.5 },
    voice: 'Wise_Woman',
  },
  film: {
    model: 'gemini-omni-flash',
    outputType: 'video',
    isAsync: true,
    input: { prompt: AWKWARD, duration: 3, resolution: '360p' },
  },
  conversation: {
    model: 'claude-haiku-4-5',
    outputType: 'text',
    input: { messages: [{ role: 'user', content: AWKWARD }] },
  },
}

/** Runs the code of a client as a person does who pastes it. */
const paste = async (client: string, code: string, folder: string, apiKey: string): Promise<string> => {
  const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', TOLLGATE_API_KEY: apiKey } }
  if (client === 'curl' || client === 'MCP') return (await run('bash', ['-c', code], options)).stdout
  if (client === 'Python') return (await run('python3', ['-c', code], options)).stdout
  // The packages of this repository are found from its folder.
  const openAi = pathToFileURL(join(process.cwd(), 'node_modules/openai/index.mjs')).href
  const file = join(folder, 'pasted.mjs')
  await writeFile(file, code.replace("from 'openai'", `from '${openAi}'`))
  return (await run(process.execPath, [file], options)).stdout
}

t.test('the requests work as they are', needsPrograms('bash', 'curl', 'python3'), async t => {
  const service = await startService(t)
  const customer = await openAccount(service, { credits: 10_000 })
  const folder = await temporaryFolder(t)
  for (const [name, sample] of Object.entries(samples))
    for (const { client, code } of clientExamples({ url: service.url, isAsync: false, ...sample }))
      await t.test(`${name} by ${client}`, async t => {
        const before = (await customer.send<{ data: Run[] }>('/v1/runs?limit=100')).body.data.length
        const answer = await paste(client, code, folder, customer.apiKey)
        const { data } = (await customer.send<{ data: Run[] }>('/v1/runs?include=input&limit=100')).body
        t.equal(data.length, before + 1, answer)
        const [made] = data
        t.equal(made?.status, 'completed')
        // OpenAI's API has conversations instead of prompts.
        const { prompt } = sample.input
        const isChat = client === 'OpenAI client' && sample.outputType === 'text' && prompt !== undefined
        const { prompt: _, ...others } = sample.input
        const wanted = isChat ? { ...others, messages: [{ role: 'user', content: prompt }] } : sample.input
        t.match(made?.input, wanted)
        if (client === 'curl') t.equal((JSON.parse(answer) as Run).run_id, made?.run_id)
        if (client === 'Python' || client === 'TypeScript') t.match(answer, /^completed /)
        if (client === 'MCP') t.match(answer, made?.run_id)
        if (sample.isAsync) t.match(answer, made?.output?.url, 'the answer has the film')
      })
})

t.test('OpenAI’s client is left out where its API has no such request', async t => {
  const clientsOf = (sample: Sample) =>
    clientExamples({ url: 'http://localhost', isAsync: false, ...sample }).map(each => each.client)
  const film = { model: 'veo-3-1', outputType: 'video', input: { prompt: 'a' } } as const
  const edit = { model: 'nano-banana-2', outputType: 'image', input: { prompt: 'a', image_url: 'https://a' } } as const
  const music = { model: 'lyria-2', outputType: 'audio', input: { prompt: 'a' } } as const
  for (const sample of [film, edit, music]) t.same(clientsOf(sample), ['curl', 'TypeScript', 'Python', 'MCP'])
})
