import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { requestsOf } from './binding-requests.ts'

/** Models that fal's client does not know yet; their sources are in the bindings. */
const UNKNOWN = [
  ...['bytedance/seedance-2.0/image-to-video', 'bytedance/seedance-2.0/text-to-video'],
  ...['bytedance/seedream/v5/pro/edit', 'bytedance/seedream/v5/pro/text-to-image'],
  ...['google/nano-banana-2-lite', 'google/nano-banana-lite/edit'],
]

/** What a published description says otherwise than the client's types. */
const OTHERWISE = `
  // https://fal.ai/docs/model-api-reference/video-generation-api/veo3.1-fast.md, and the pages beside it
  'fal-ai/veo3.1': { resolution: '4k' }
  'fal-ai/veo3.1/fast': { resolution: '4k' }
  'fal-ai/veo3.1/image-to-video': { resolution: '4k' }
  'fal-ai/veo3.1/fast/image-to-video': { resolution: '4k' }
  // Numbers, which the types put in quotes: https://fal.ai/models/fal-ai/ltx-2/text-to-video/fast/llms.txt
  'fal-ai/ltx-2.3/text-to-video': { duration: 6 | 8 | 10; fps: 24 | 25 | 48 | 50 }
  'fal-ai/ltx-2.3/image-to-video': { duration: 6 | 8 | 10; fps: 24 | 25 | 48 | 50 }
`

const header = `
import type { EndpointTypeMap as Known } from '@fal-ai/client/endpoints'
interface Otherwise {${OTHERWISE}}
type Input<Model extends keyof Known> = Known[Model]['input']
type Also<Model, Name> = Model extends keyof Otherwise
  ? Name extends keyof Otherwise[Model] ? Otherwise[Model][Name] : never
  : never
type Wanted<Model extends keyof Known> = { [Name in keyof Input<Model>]: Input<Model>[Name] | Also<Model, Name> }
const want = <Model extends keyof Known>(_: Wanted<Model>) => undefined
`

/** What the compiler says of a source text within the project. */
const faultsOf = async (source: string): Promise<string[]> => {
  await mkdir('dist', { recursive: true })
  const folder = await mkdtemp(join('dist', 'requests-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'requests.ts')
  await writeFile(file, source)
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext --checkers 1'
  const compiled = promisify(execFile)('node_modules/.bin/tsc', [...options.split(' '), file])
  const { stdout } = await compiled.catch((failed: { stdout: string }) => failed)
  return stdout.split('\n').filter(Boolean)
}

const ofFal = requestsOf('fal').map(({ model, parameters }) => ({
  model,
  // A file is sent as a data URL.
  text: JSON.stringify(parameters, (_, value) => (value?.fileUrl ? 'data:image/png;base64,AAAA' : value)),
}))

const checked = (requests: typeof ofFal) =>
  faultsOf([header, ...requests.map(({ model, text }) => `want<'${model}'>(${text})`)].join('\n'))

t.test("the requests of fal's bindings have the types that its client declares", async t => {
  const known = ofFal.filter(({ model }) => !UNKNOWN.includes(model))
  t.ok(known.length > 500)
  t.same(await checked(known), [])
})

t.test('models that the client has come to know are checked too', async t => {
  const others = ofFal.filter(
    ({ model }, at) => UNKNOWN.includes(model) && ofFal.findIndex(each => each.model === model) === at,
  )
  const faults = await checked(others)
  t.equal(faults.filter(fault => fault.includes("does not satisfy the constraint 'keyof")).length, UNKNOWN.length)
})
