import type OpenAI from 'openai'
import type { Provider } from '../../../ports/provider.ts'
import { checkFailure } from '../check-failure.ts'
import { toUpload } from '../form.ts'
import { LargeFiles } from '../large-files.ts'
import { UpstreamCall } from '../upstream-call.ts'
import { assertKey, unusableFile, type VendorDependencies, withFile } from '../vendor.ts'
import { answerChat, speak } from './answer.ts'
import { type Operation, openClient, through } from './client.ts'
import { failures } from './failures.ts'
import { editImages, generateImages, IMAGE_PLACE } from './images.ts'
import { cancelVideo, createVideo, pollVideo } from './videos.ts'

const operations: Record<string, Operation> = {
  'images.generate': generateImages,
  'images.edit': editImages,
  'chat.completions': answerChat,
  'audio.speech': speak,
  videos: createVideo,
}

/** OpenAI, and every server with a compatible API. */
export const createOpenAiProvider = (dependencies: VendorDependencies): Provider => {
  const { key, baseUrl, fetch, useInputMedia } = dependencies
  assertKey(key, 'OPENAI_API_KEY')
  let client: Promise<OpenAI> | undefined
  const open = () => {
    client ??= openClient(dependencies)
    return client
  }
  return {
    submit: async (job, signal) => {
      const { model, operation: name } = job.upstream
      const operation = operations[name]
      if (!operation) throw new Error(`the adapter of OpenAI has no operation ${name}`)
      const api = await open()
      const call = new UpstreamCall(fetch, new LargeFiles(IMAGE_PLACE))
      try {
        return await withFile(job, useInputMedia, signal, toUpload, parameters =>
          operation(api, { ...parameters, model }, through(call, signal), call.files),
        )
      } catch (error) {
        return unusableFile(error) ?? call.failure(error, failures, [key])
      }
    },
    poll: async ({ jobId }, signal) => pollVideo(await open(), fetch, jobId, signal),
    cancel: async ({ jobId }, signal) => cancelVideo(await open(), fetch, jobId, signal),
    check: async signal => {
      const call = new UpstreamCall(fetch)
      try {
        const { object } = await (await open()).models.list(through(call, signal))
        if (object !== 'list') throw new Error('the answer is not a list of models')
      } catch (error) {
        throw checkFailure(call, error, failures, { key, baseUrl, variable: 'OPENAI' })
      }
    },
    close: async () => undefined,
  }
}
