import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'

/**
 * Where a run is held: before its vendor has its job, before the answer that accepts it arrives, and before the answer
 * to its first poll arrives.
 */
export type HeldAt = 'asked' | 'accepted' | 'polled'

/** A run that passes through the proxy. It is known by a text in its prompt, and later by the id of its job. */
export interface Passage {
  mark: string
  heldAt: HeldAt | undefined
  submissions: number
  isAccepted: boolean
  isHeld: boolean
}

export interface HoldingProxy {
  /** The address in front of a vendor's stub. */
  urlOf(stubUrl: string): Promise<string>
  /** Holds the next request of a run at this step, for as long as its client waits. */
  expect(mark: string, heldAt?: HeldAt): Passage
}

/** Stands between a service and the stubs of vendors, so that a test decides how far each run gets. */
export const holdingProxy = (t: Test): HoldingProxy => {
  const passages: Passage[] = []
  const jobs = new Map<string, Passage>()

  const find = (path: string, body: string): Passage | undefined =>
    passages.find(({ mark }) => body.includes(mark)) ?? [...jobs].find(([id]) => path.includes(id))?.[1]

  const hold = async (passage: Passage, response: ServerResponse) => {
    passage.isHeld = true
    await once(response, 'close')
  }

  const pass = async (stubUrl: string, request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '', headers } = request
    const body = await buffer(request)
    const passage = find(url, body.toString())
    const isSubmission = method === 'POST'
    if (passage && isSubmission) passage.submissions += 1
    if (passage?.heldAt === 'asked') return hold(passage, response)
    const { host: _, 'content-length': __, connection: ___, ...sent } = headers as Record<string, string>
    const answer = await fetch(stubUrl + url, { method, headers: sent, ...(isSubmission && { body }) })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (passage && isSubmission) {
      passage.isAccepted = true
      for (const id of idsIn(bytes.toString())) jobs.set(id, passage)
    }
    const step: HeldAt = isSubmission ? 'accepted' : 'polled'
    if (passage?.heldAt === step && !passage.isHeld) return hold(passage, response)
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? 'text/plain' }).end(bytes)
  }

  return {
    urlOf: async stubUrl => {
      const server = createServer((request, response) => {
        pass(stubUrl, request, response).catch(() => response.destroy())
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => server.close().closeAllConnections())
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    expect: (mark, heldAt) => {
      const passage = { mark, heldAt, submissions: 0, isAccepted: false, isHeld: false }
      passages.push(passage)
      return passage
    },
  }
}

/** The ids of jobs, as fal, Replicate and Google name them. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/"(?:request_id|id|name)":"([^"]{16,})"/g)].map(([, id]) => id as string)
