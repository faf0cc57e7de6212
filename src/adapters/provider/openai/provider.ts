import type OpenAI from 'openai'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Provider } from '../../../ports/provider.ts'
import { checkFailure } from '../check-failure.ts'
import { toUpload } from '../form.ts'
import { LargeFiles } from '../large-files.ts'
import { assertKey, toDataUrl, unusableFile, type VendorDependencies, withFile } from '../vendor.ts'
import { answerChat, speak } from './answer.ts'
import { type Operation, openCall, requestJson } from './api.ts'
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
  const { key, useInputMedia } = dependencies
  assertKey(key, 'OPENAI_API_KEY')
  return {
    submit: async (job, signal) => {
      const { model, operation: name } = job.upstream
      const operation = operations[name]
      if (!operation) throw new Error(`the adapter of OpenAI has no operation ${name}`)
      const files = new LargeFiles(job.openFile, operation === speak ? undefined : IMAGE_PLACE)
      const toImagePart = ({ mimeType, bytes }: InputMedia) => ({ url: toDataUrl(mimeType, files.toBase64(bytes)) })
      const api = { ...openCall(dependencies, signal, files), ...(job.onText && { onText: job.onText }) }
      try {
        const toVendor = operation === answerChat ? toImagePart : toUpload
        return await withFile(job, useInputMedia, signal, toVendor, parameters =>
          operation(api, { ...parameters, model }),
        )
      } catch (error) {
        return unusableFile(error) ?? api.call.failure(error, failures, [key])
      }
    },
    poll: (job, signal) => pollVideo(dependencies, job, signal),
    cancel: ({ jobId }, signal) => cancelVideo(dependencies, jobId, signal),
    check: async signal => {
      const api = openCall(dependencies, signal)
      try {
        const { object } = await requestJson<OpenAI.ModelsPage>(api, '/models')
        if (object !== 'list') throw new Error('the answer is not a list of models')
      } catch (error) {
        throw checkFailure(api.call, error, failures, { ...dependencies, variable: 'OPENAI' })
      }
    },
  }
}
