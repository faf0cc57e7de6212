import type { OutputType } from '../../../schemas/catalog.ts'

/** Models that need only a prompt, ordered by suitability for a first run. */
export const FIRST_MODELS = ['nano-banana-2', 'gpt-image-2-6', 'z-image-turbo', 'gpt-6-1-terra', 'claude-haiku-4-5']

/** The most suitable of these models for a first run. */
export const firstModel = (models: readonly string[]): string =>
  FIRST_MODELS.find(each => models.includes(each)) ?? models[0] ?? (FIRST_MODELS[0] as string)

/**
 * The body of a first run, in lines that fit on a phone. The most suitable model gets more parameters, with which the
 * sandbox makes docs/first-picture.jpg.
 */
export const firstRun = (model: string): string => {
  const more = model === FIRST_MODELS[0] ? ',\n    "aspect_ratio": "16:9", "output_format": "jpeg", "seed": 7' : ''
  return `{"model": "${model}", "input": {\n    "prompt": "A quiet mountain lake at sunrise"${more}}}`
}

/** The lines of a `curl` command that runs a model. `apiKey` may be a shell variable. */
export const curlRun = (url: string, apiKey: string, run: string, ...headers: string[]): string[] => [
  `curl -s '${url}' \\`,
  `  -H "Authorization: Bearer ${apiKey}" \\`,
  ...['Content-Type: application/json', ...headers].map(header => `  -H '${header}' \\`),
  ...`  -d '${run}'`.split('\n'),
]

/** The lines of a `curl` command for a GET request. */
export const curlRead = (url: string, apiKey: string): string[] => [
  `curl -s '${url}' \\`,
  `  -H "Authorization: Bearer ${apiKey}"`,
]

/** The command that makes a server known to Claude Code. `apiKey` may be a shell variable. */
export const addServer = (url: string, apiKey: string): string =>
  `claude mcp add --transport http tollgate ${url} --header "Authorization: Bearer ${apiKey}"`

/** A run to show as a request of several clients. */
export interface ExampleRun {
  /** The address of the service. */
  url: string
  model: string
  outputType: OutputType
  /** Whether the model takes longer than clients usually wait, so that they ask for the result. */
  isAsync: boolean
  input: Record<string, unknown>
  /** The voice that the model speaks with by default. OpenAI's API requires one. */
  voice?: string | undefined
}

/** A request in the words of a client, which reads the key from the environment. */
export interface ClientExample {
  client: string
  code: string
}

/** The variable of the environment that holds the key in all examples. */
export const KEY_VARIABLE = 'TOLLGATE_API_KEY'

/** How long a request for an async run waits. A client then waits again. */
const WAIT = 'wait=60'

/** The version of the Model Context Protocol that the example speaks. */
const MCP_VERSION = '2025-11-25'

/** The same run as a request of each client. OpenAI's client is among them where OpenAI's API has such a request. */
export const clientExamples = (run: ExampleRun): ClientExample[] => {
  const openAi = openAiCode(run)
  return [
    { client: 'curl', code: curlCode(run) },
    { client: 'TypeScript', code: typeScriptCode(run) },
    { client: 'Python', code: pythonCode(run) },
    ...(openAi === undefined ? [] : [{ client: 'OpenAI client', code: openAi }]),
    { client: 'MCP', code: mcpCode(run) },
  ]
}

const curlCode = ({ url, model, isAsync, input }: ExampleRun): string => {
  const run = shellText(indented(json({ model, input }), 2))
  if (!isAsync) return curlRun(`${url}/v1/run`, `$${KEY_VARIABLE}`, run).join('\n')
  const [read = '', key = ''] = curlRead(`${url}/v1/runs/RUN_ID`, `$${KEY_VARIABLE}`)
  return [
    ...curlRun(`${url}/v1/run`, `$${KEY_VARIABLE}`, run, `Prefer: ${WAIT}`),
    '# If it is still processing after that, ask for it by its run_id until it has ended:',
    `# ${read}`,
    `# ${key} -H 'Prefer: ${WAIT}'`,
  ].join('\n')
}

const mcpCode = ({ url, model, isAsync, input }: ExampleRun): string => {
  const params = { name: 'run_model', arguments: { model, input } }
  const headers = ['Accept: application/json, text/event-stream', `MCP-Protocol-Version: ${MCP_VERSION}`]
  const message = json({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return [
    '# An agent that knows the server makes this call itself:',
    `#   ${addServer(`${url}/mcp`, `$${KEY_VARIABLE}`)}`,
    ...(isAsync ? ['# It waits a while. The tool get_run returns the result of a run that takes longer.'] : []),
    ...curlRun(`${url}/mcp`, `$${KEY_VARIABLE}`, shellText(indented(message, 2)), ...headers),
  ].join('\n')
}

const typeScriptCode = ({ url, model, isAsync, input }: ExampleRun): string => {
  const headers = [
    `  Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,`,
    "  'Content-Type': 'application/json',",
    ...(isAsync ? [`  Prefer: '${WAIT}',`] : []),
  ]
  return [
    'const headers = {',
    ...headers,
    '}',
    `const response = await fetch('${url}/v1/run', {`,
    "  method: 'POST',",
    '  headers,',
    `  body: JSON.stringify(${indented(scriptText({ model, input }), 2)}),`,
    '})',
    `${isAsync ? 'let' : 'const'} run = await response.json()`,
    ...(isAsync
      ? [
          "while (['queued', 'processing'].includes(run.status))",
          `  run = await (await fetch(\`${url}/v1/runs/\${run.run_id}\`, { headers })).json()`,
        ]
      : []),
    'console.log(run.status, run.output ?? run.error ?? run)',
  ].join('\n')
}

const pythonCode = ({ url, model, isAsync, input }: ExampleRun): string =>
  [
    'import json, os, urllib.request',
    '',
    'headers = {',
    `    "Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}",`,
    '    "Content-Type": "application/json",',
    ...(isAsync ? [`    "Prefer": "${WAIT}",`] : []),
    '}',
    `body = ${pythonText({ model, input })}`,
    `request = urllib.request.Request("${url}/v1/run", json.dumps(body).encode(), headers)`,
    'run = json.load(urllib.request.urlopen(request))',
    ...(isAsync
      ? [
          'while run["status"] in ("queued", "processing"):',
          `    request = urllib.request.Request(f"${url}/v1/runs/{run['run_id']}", headers=headers)`,
          '    run = json.load(urllib.request.urlopen(request))',
        ]
      : []),
    'print(run["status"], run.get("output") or run.get("error"))',
  ].join('\n')

/** The request for OpenAI's client; undefined if its API has none for the model. */
const openAiCode = ({ url, ...run }: ExampleRun): string | undefined => {
  const call = openAiCall(run)
  if (!call) return undefined
  return [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: '${url}/v1', apiKey: process.env.${KEY_VARIABLE} })`,
    // The client sends the parameters that only the model has, which its types do not know.
    `const answer = await client.${call.method}(${scriptText(call.body)})`,
    call.print,
  ].join('\n')
}

const openAiCall = ({ model, outputType, input, voice: byDefault }: Omit<ExampleRun, 'url'>) => {
  const { prompt, text, messages, num_images: n, voice, voice_id, output_format, ...others } = input
  const format = output_format === undefined ? {} : { output_format }
  if (outputType === 'text')
    return {
      method: 'chat.completions.create',
      body: { model, messages: messages ?? [{ role: 'user', content: prompt ?? '' }], ...others },
      print: 'console.log(answer.choices[0].message.content)',
    }
  if (outputType === 'image' && input['image_url'] === undefined)
    return {
      method: 'images.generate',
      body: {
        model,
        prompt: prompt ?? '',
        ...(n !== undefined && { n }),
        response_format: 'url',
        ...format,
        ...others,
      },
      print: 'for (const { url } of answer.data) console.log(url)',
    }
  const spoken = voice ?? voice_id ?? byDefault
  // Music has no words, and OpenAI's API has no request for it.
  if (outputType === 'audio' && text !== undefined && spoken !== undefined)
    return {
      method: 'audio.speech.create',
      body: {
        ...{ model, input: text, voice: spoken },
        ...(output_format !== undefined && { response_format: output_format }),
        ...others,
      },
      print:
        "await (await import('node:fs/promises')).writeFile('speech.mp3', Buffer.from(await answer.arrayBuffer()))",
    }
  return undefined
}

/** JSON that begins short requests on one line. */
const json = (value: unknown): string => {
  const line = JSON.stringify(value)
  return line.length <= MAX_LINE_LENGTH ? line : JSON.stringify(value, undefined, 2)
}
const MAX_LINE_LENGTH = 72

/** A text between single quotes of a shell. */
const shellText = (text: string): string => text.replaceAll("'", "'\\''")

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** A value as JavaScript writes it. */
const scriptText = (value: unknown): string =>
  literal(value, {
    name: name => (IDENTIFIER.test(name) ? name : JSON.stringify(name)),
    constant: each => JSON.stringify(each),
    spaces: 2,
  })

/** A value as Python writes it. A text in JSON is one in Python, apart from characters that JSON writes in halves. */
const pythonText = (value: unknown): string =>
  literal(value, {
    name: name => JSON.stringify(name),
    constant: each => {
      if (each === true) return 'True'
      if (each === false) return 'False'
      return each === null ? 'None' : JSON.stringify(each)
    },
    spaces: 4,
  })

interface Words {
  name(name: string): string
  constant(value: unknown): string
  spaces: number
}

/** A value in lines. An empty list or object, and whatever is no list or object, is on one line. */
const literal = (value: unknown, words: Words): string => {
  if (typeof value !== 'object' || value === null) return words.constant(value)
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map(each => literal(each, words))
    : Object.entries(value).map(([name, each]) => `${words.name(name)}: ${literal(each, words)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  const lines = parts.map(part => `${' '.repeat(words.spaces)}${indented(part, words.spaces)},`)
  return [open, ...lines, close].join('\n')
}

/** A text whose further lines are indented. A line break within a value is escaped, so it is none here. */
const indented = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`)
