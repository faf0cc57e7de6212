import createClient from 'openapi-fetch'
import type { components, paths } from './api'

type Run = components['schemas']['Run']
type RunRequest = components['schemas']['RunRequest']

const POLL_MS = 50

/** Does with the generated client what a customer does, and returns what the service answers. */
export const walk = async (baseUrl: string, apiKey: string, file: File) => {
  const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } })

  const run = async (body: RunRequest, key: string = crypto.randomUUID()): Promise<Run> => {
    const { data } = await api.POST('/v1/run', { params: { header: { 'Idempotency-Key': key } }, body })
    if (data?.object !== 'run') throw new Error('expected a run')
    return data
  }
  const ended = async (id: string): Promise<Run> => {
    const { data, error } = await api.GET('/v1/runs/{id}', { params: { path: { id } } })
    if (error) throw new Error(error.error.message)
    if (data.status === 'completed' || data.status === 'failed') return data
    await new Promise(done => setTimeout(done, POLL_MS))
    return ended(id)
  }
  const completedIds = async (cursor?: string): Promise<string[]> => {
    const query = { limit: 2, status: 'completed' as const, ...(cursor !== undefined && { cursor }) }
    const { data, error } = await api.GET('/v1/runs', { params: { query } })
    if (error) throw new Error(error.error.message)
    const ids = data.data.map(({ run_id }) => run_id)
    return data.next_cursor === null ? ids : [...ids, ...(await completedIds(data.next_cursor))]
  }

  const { data: models } = await api.GET('/v1/models', { params: { query: { output_type: 'image' } } })
  const request: RunRequest = { model: 'nano', input: { prompt: 'a lake', resolution: '1K', safety_tolerance: '2' } }
  const { data: quote } = await api.POST('/v1/run', { params: { query: { dry_run: true } }, body: request })
  const key = crypto.randomUUID()
  const [first, repeated] = [await run(request, key), await run(request, key)]

  const sound = await run({
    model: 'stable-audio-2-5',
    input: { prompt: 'rain', duration: 1 },
    metadata: { order: 17 },
  })
  const film = await run({
    model: 'gemini-omni-flash-t2v',
    input: { prompt: 'waves', duration: 6, resolution: '360p' },
  })
  await api.POST('/v1/runs/{id}/cancel', { params: { path: { id: film.run_id } } })

  const form = new FormData()
  form.append('file', file)
  const { data: upload } = await api.POST('/v1/uploads', { body: { file }, bodySerializer: () => form })
  if (!upload) throw new Error('expected an upload')
  const winter = await run({ model: 'nano-banana-2', input: { prompt: 'winter', image_url: upload.url } })

  const wanted = { filename: file.name, mime_type: file.type, size_bytes: file.size }
  const { data: grant } = await api.POST('/v1/uploads/presigned', { body: wanted })
  if (!grant) throw new Error('expected a presigned URL')
  await fetch(grant.presigned_url, { method: grant.method, body: file })
  const { data: sent } = await api.GET('/v1/uploads/{id}', { params: { path: { id: grant.id } } })

  const { error } = await api.POST('/v1/run', { body: { model: 'nano', input: { prompt: '' } } })
  return {
    models: models?.data.map(({ id }) => id),
    price: quote?.object === 'quote' && quote.credits,
    first,
    isRepeated: repeated.run_id === first.run_id,
    sound: await ended(sound.run_id),
    film: await ended(film.run_id),
    winter,
    sentBytes: sent?.size_bytes,
    completedIds: await completedIds(),
    balance: (await api.GET('/v1/balance')).data?.credits_balance,
    secret: (await api.GET('/v1/webhooks/secret')).data?.secret,
    refusal: error?.error.code === 'invalid_input' ? error.error.errors?.[0]?.path : error?.error.message,
  }
}

export const edit: RunRequest = { model: 'nano-banana-2-i2i', input: { prompt: 'a', image_url: 'https://a.example/b' } }
// @ts-expect-error there is no such model
export const model: RunRequest = { model: 'nano-banana-3', input: { prompt: 'a lake' } }
// @ts-expect-error there is no such value
export const value: RunRequest = { model: 'nano-banana-2', input: { prompt: 'a lake', resolution: '8K' } }
