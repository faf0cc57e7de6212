import * as api from './client'
import type { Run, RunRequest } from './model'

const POLL_MS = 50

/** Does with the generated client what a customer does, and returns what the service answers. The client has its URL. */
export const walk = async (_: string, apiKey: string, file: File) => {
  const keyed = { headers: { Authorization: `Bearer ${apiKey}` } }
  const ofJson = { headers: { ...keyed.headers, 'Content-Type': 'application/json' } }

  const run = async (body: RunRequest, key: string = crypto.randomUUID()): Promise<Run> => {
    const headers = { ...ofJson.headers, 'Idempotency-Key': key }
    const { status, data } = await api.runModel(body, undefined, { headers })
    if ((status !== 200 && status !== 202) || typeof data === 'string' || data.object !== 'run')
      throw new Error('expected a run')
    return data
  }
  const ended = async (id: string): Promise<Run> => {
    const { status, data } = await api.getRun(id, keyed)
    if (status !== 200) throw new Error(data.error.message)
    if (data.status === 'completed' || data.status === 'failed') return data
    await new Promise(done => setTimeout(done, POLL_MS))
    return ended(id)
  }
  const completedIds = async (cursor?: string): Promise<string[]> => {
    const query = { limit: 2, status: 'completed' as const, ...(cursor !== undefined && { cursor }) }
    const { status, data } = await api.listRuns(query, keyed)
    if (status !== 200) throw new Error(data.error.message)
    const ids = data.data.map(({ run_id }) => run_id)
    return data.next_cursor === null ? ids : [...ids, ...(await completedIds(data.next_cursor))]
  }

  const models = await api.listModels({ output_type: 'image' }, keyed)
  const request: RunRequest = { model: 'nano', input: { prompt: 'a lake', resolution: '1K', safety_tolerance: '2' } }
  const quote = await api.runModel(request, { dry_run: true }, ofJson)
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
  await api.cancelRun(film.run_id, keyed)

  const upload = await api.sendUpload({ file }, keyed)
  if (upload.status !== 200) throw new Error(upload.data.error.message)
  const winter = await run({ model: 'nano-banana-2', input: { prompt: 'winter', image_url: upload.data.url } })

  const wanted = { filename: file.name, mime_type: file.type, size_bytes: file.size }
  const grant = await api.presignUpload(wanted, ofJson)
  if (grant.status !== 200) throw new Error(grant.data.error.message)
  await fetch(grant.data.presigned_url, { method: grant.data.method, body: file })
  const sent = await api.getUpload(grant.data.id, keyed)

  const balance = await api.getBalance(undefined, keyed)
  const secret = await api.getWebhookSecret(keyed)
  const { status, data } = await api.runModel({ model: 'nano', input: { prompt: '' } }, undefined, ofJson)
  return {
    models: models.status === 200 && models.data.data.map(({ id }) => id),
    price:
      quote.status === 200 && typeof quote.data !== 'string' && quote.data.object === 'quote' && quote.data.credits,
    first,
    isRepeated: repeated.run_id === first.run_id,
    sound: await ended(sound.run_id),
    film: await ended(film.run_id),
    winter,
    sentBytes: sent.status === 200 && sent.data.size_bytes,
    completedIds: await completedIds(),
    balance: balance.status === 200 && balance.data.credits_balance,
    secret: secret.status === 200 && secret.data.secret,
    refusal: status === 400 && data.error.code === 'invalid_input' && data.error.errors?.[0]?.path,
  }
}

export const edit: RunRequest = { model: 'nano-banana-2-i2i', input: { prompt: 'a', image_url: 'https://a.example/b' } }
// @ts-expect-error there is no such model
export const model: RunRequest = { model: 'nano-banana-3', input: { prompt: 'a lake' } }
// @ts-expect-error there is no such value
export const value: RunRequest = { model: 'nano-banana-2', input: { prompt: 'a lake', resolution: '8K' } }
