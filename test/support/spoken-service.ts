import OpenAI from 'openai'
import type { Test } from 'tap'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { checkAnswer } from './document.ts'
import { type Customer, openAccount, startService } from './service.ts'
import { speakingProvider } from './speaking-provider.ts'
import { until } from './until.ts'

/** A service whose text models say what the test says, for OpenAI's client. */
export const spokenService = async (t: Test) => {
  const { provider, nextCall, calls } = speakingProvider()
  const service = await startService(t, { providers: { sandbox: provider } })
  const open = async () => {
    const customer = await openAccount(service)
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey, maxRetries: 0 })
    return { customer, client }
  }
  return { service, nextCall, calls, open }
}

export const lastRun = async (customer: Customer) => (await customer.send<RunList>('/v1/runs')).body.data[0] as Run

/** The newest run of an account, once it has ended. */
export const endedRun = async (customer: Customer): Promise<Run> => {
  await until('the run ends', async () => ['completed', 'failed'].includes((await lastRun(customer)).status))
  return lastRun(customer)
}

/** A stream as it is sent. Throws unless the OpenAPI document has it. */
export const streamSent = async ({ url, apiKey }: Customer, path: string, body: object): Promise<string> => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
  const asked = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await asked.text()
  checkAnswer('POST', path, { status: asked.status, headers: asked.headers, text })
  return text
}
