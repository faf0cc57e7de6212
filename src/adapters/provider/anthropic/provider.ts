import type { Anthropic } from '@anthropic-ai/sdk'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Job, Provider, ProviderOutcome } from '../../../ports/provider.ts'
import { checkFailure } from '../check-failure.ts'
import { UpstreamCall } from '../upstream-call.ts'
import { assertKey, unusableFile, type VendorDependencies, withFile } from '../vendor.ts'
import { failures } from './failures.ts'
import { messageReader } from './message-stream.ts'
import { type ApiVersion, outcomeOf, toImageBlock, toRequest, versionFor } from './messages.ts'

const ANTHROPIC_URL = 'https://api.anthropic.com'

/** Anthropic. Its only operation is `messages`, which requires `parameters.max_tokens`. */
export const createAnthropicProvider = (dependencies: VendorDependencies): Provider => {
  const { key, baseUrl = ANTHROPIC_URL, request, useInputMedia } = dependencies
  assertKey(key, 'ANTHROPIC_API_KEY')
  const headersOf = (version: ApiVersion) => ({ authorization: `Bearer ${key}`, 'anthropic-version': version })
  const submit = async (job: Job, signal: AbortSignal): Promise<ProviderOutcome> => {
    const { model, operation } = job.upstream
    if (operation !== 'messages') throw new Error(`Anthropic has no operation ${operation}`)
    const call = new UpstreamCall(request)
    try {
      const toVendor = (media: InputMedia) => toImageBlock(media, call.files)
      return await withFile(job, useInputMedia, signal, toVendor, async parameters => {
        const headers = headersOf(versionFor(parameters))
        const body = toRequest(model, parameters)
        const url = `${baseUrl}/v1/messages`
        const { onText } = job
        if (!onText) return outcomeOf(await call.json<Anthropic.Message>(url, { headers, body, signal }))
        const streamed = { headers, body: { ...body, stream: true }, signal, reader: messageReader(), onText }
        return call.streamText(url, streamed, outcomeOf)
      })
    } catch (error) {
      return unusableFile(error) ?? call.failure(error, failures, [key])
    }
  }
  const check = async (signal: AbortSignal): Promise<void> => {
    const call = new UpstreamCall(request)
    try {
      const url = `${baseUrl}/v1/models?limit=1`
      const { data } = await call.json<Anthropic.ModelInfosPage>(url, { headers: headersOf('2026-10-21'), signal })
      if (data.length === 0) throw new Error('there are no models')
    } catch (error) {
      throw checkFailure(call, error, failures, { ...dependencies, variable: 'ANTHROPIC' })
    }
  }
  return { submit, check }
}
