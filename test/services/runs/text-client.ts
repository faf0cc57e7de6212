import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { TextCase } from './text-case.ts'

/** What a client got of a run. */
export interface Heard {
  /** The pieces of the text. */
  pieces: string[]
  /** The run at the end of the stream, or as JSON; undefined if the client left before. */
  run?: ShownRun
  /** Whether it left or cancelled the run before it knew of the end. */
  hasGivenUp: boolean
}

interface ShownRun {
  run_id: string
  status: string
  output?: { text?: string }
  credits_charged: number
  credits_released?: number
}

interface Call {
  url: string
  headers: Record<string, string>
  body: object
  /** Resolves when the vendor has the request. */
  asked: Promise<void>
  /** Cancels the run, as its owner. */
  cancel(): Promise<unknown>
}

/** Asks for a stream, and does with it what the client of a case does. */
export const listen = async ({ client }: TextCase, { url, headers, body, asked, cancel }: Call): Promise<Heard> => {
  const { leaves, accepts } = client
  const heard: Heard = { pieces: [], hasGivenUp: false }
  const stream = accepts ? { Accept: 'text/event-stream' } : {}
  const call = request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers, ...stream },
  })
  const giveUp = async () => {
    if (!leaves || heard.run || heard.hasGivenUp || heard.pieces.join('').length < leaves.after) return
    heard.hasGivenUp = true
    if (leaves.by === 'leaving') call.destroy()
    else await cancel()
  }
  const given = asked.then(giveUp)
  call.end(JSON.stringify({ ...body, ...(!accepts && { stream: true }) }))
  try {
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    for await (const { name, data } of eventsOf(response)) {
      if (name === 'delta') heard.pieces.push(data.text)
      else heard.run = data
      await giveUp()
    }
    if (!heard.run) throw new Error('the stream ended without the run')
  } catch (error) {
    if (leaves?.by !== 'leaving' || !heard.hasGivenUp) throw error
  }
  if (heard.hasGivenUp) await given
  return heard
}

/** The events of a stream. A run that fails before there is text comes as JSON. */
async function* eventsOf(response: IncomingMessage) {
  let text = ''
  const isStream = response.headers['content-type']?.startsWith('text/event-stream')
  for await (const part of response.setEncoding('utf8')) {
    text += part
    const events = isStream ? text.split('\n\n') : []
    if (isStream) text = events.pop() ?? ''
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\n(?:id: \d+\n)?data: (.*)$/s.exec(event) ?? []
      if (data !== undefined) yield { name, data: JSON.parse(data) }
    }
  }
  if (response.statusCode !== 200) throw new Error(text)
  if (!isStream) yield { name: 'run', data: JSON.parse(text) }
}
