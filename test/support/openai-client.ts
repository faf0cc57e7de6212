import OpenAI, { type ClientOptions } from 'openai'
import { checkAnswer } from './document.ts'

/** A request that OpenAI's client sent, with the status and the headers of the answer. */
export interface Sent {
  path: string
  status: number
  headers: Headers
}

/** OpenAI's client, with what it sent. It checks every answer against the OpenAPI document. */
export const openAiClient = (
  { url, apiKey }: { url: string; apiKey?: string },
  options: ClientOptions = {},
): { client: OpenAI; sent: Sent[] } => {
  const sent: Sent[] = []
  const fetchChecked = async (address: string | URL | Request, init?: RequestInit) => {
    const answer = await fetch(address, init)
    const { pathname, search } = new URL(String(address))
    const { status, headers } = answer
    sent.push({ path: pathname, status, headers })
    const text = await answer.clone().text()
    checkAnswer(init?.method ?? 'GET', pathname + search, { status, headers, text })
    return answer
  }
  return {
    client: new OpenAI({ baseURL: `${url}/v1`, apiKey: apiKey ?? 'none', fetch: fetchChecked, ...options }),
    sent,
  }
}
