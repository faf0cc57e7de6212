import type { Anthropic } from '@anthropic-ai/sdk'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Job, Provider, ProviderOutcome } from '../../../ports/provider.ts'
import { checkFailure } from '../check-failure.ts'
import { UpstreamCall } from '../upstream-call.ts'
import { assertKey, unusableFile, type VendorDependencies, withFile } from '../vendor.ts'
import { openClient, through } from './client.ts'
import { failures } from './failures.ts'
import { createMessage, toImageBlock } from './messages.ts'

/** Anthropic. Its only operation is `messages`, which requires `parameters.max_tokens`. */
export const createAnthropicProvider = (dependencies: VendorDependencies): Provider => {
  assertKey(dependencies.key, 'ANTHROPIC_API_KEY')
  let opened: Promise<Anthropic> | undefined
  const client = () => {
    opened ??= openClient(dependencies)
    return opened
  }
  const submit = async (job: Job, signal: AbortSignal): Promise<ProviderOutcome> => {
    const { model, operation } = job.upstream
    if (operation !== 'messages') throw new Error(`Anthropic has no operation ${operation}`)
    const call = new UpstreamCall(dependencies.fetch)
    try {
      const toVendor = (media: InputMedia) => toImageBlock(media, call.files)
      return await withFile(job, dependencies.useInputMedia, signal, toVendor, async parameters =>
        createMessage(await client(), model, parameters, call, signal),
      )
    } catch (error) {
      return unusableFile(error) ?? call.failure(error, failures, [dependencies.key])
    }
  }
  const check = async (signal: AbortSignal): Promise<void> => {
    const call = new UpstreamCall(dependencies.fetch)
    try {
      const { data } = await (await client()).models.list({ limit: 1 }, through(call, '2026-10-21', signal))
      if (data.length === 0) throw new Error('there are no models')
    } catch (error) {
      throw checkFailure(call, error, failures, { ...dependencies, variable: 'ANTHROPIC' })
    }
  }
  return { submit, check, close: async () => undefined }
}
