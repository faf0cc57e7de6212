import type { Binding } from '../../schemas/binding.ts'
import { elevenV3 } from './audio/eleven-v3.ts'
import { lyria2 } from './audio/lyria-2.ts'
import { minimaxSpeech26 } from './audio/minimax-speech-2-6.ts'
import { stableAudio25 } from './audio/stable-audio-2-5.ts'
import type { Model } from './families.ts'
import { flux2Flex } from './image/flux-2-flex.ts'
import { flux2Pro } from './image/flux-2-pro.ts'
import { fluxKontextMax } from './image/flux-kontext-max.ts'
import { gptImage26 } from './image/gpt-image-2-6.ts'
import { hunyuanImage3 } from './image/hunyuan-image-3.ts'
import { ideogramV3 } from './image/ideogram-v3.ts'
import { nanoBanana2 } from './image/nano-banana-2.ts'
import { nanoBanana2Lite } from './image/nano-banana-2-lite.ts'
import { nanoBananaPro } from './image/nano-banana-pro.ts'
import { qwenImage } from './image/qwen-image.ts'
import { recraftV3 } from './image/recraft-v3.ts'
import { seedream45 } from './image/seedream-4-5.ts'
import { seedream5Pro } from './image/seedream-5-pro.ts'
import { zImageTurbo } from './image/z-image-turbo.ts'
import { sandbox } from './sandbox.ts'
import { claudeHaiku45 } from './text/claude-haiku-4-5.ts'
import { gemini3Flash } from './text/gemini-3-flash.ts'
import { gpt61Terra } from './text/gpt-6-1-terra.ts'
import { geminiOmniFlash } from './video/gemini-omni-flash.ts'
import { gen45 } from './video/gen-4-5.ts'
import { hailuo23 } from './video/hailuo-2-3.ts'
import { kling26 } from './video/kling-2-6.ts'
import { kling3Pro } from './video/kling-3-pro.ts'
import { ltx23Pro } from './video/ltx-2-3-pro.ts'
import { pixverseV5 } from './video/pixverse-v5.ts'
import { seedance2 } from './video/seedance-2.ts'
import { veo31 } from './video/veo-3-1.ts'
import { veo31Fast } from './video/veo-3-1-fast.ts'
import { wan26 } from './video/wan-2-6.ts'

const image = [
  ...[nanoBanana2, nanoBananaPro, seedream45, flux2Pro, flux2Flex, fluxKontextMax, gptImage26],
  ...[seedream5Pro, nanoBanana2Lite, ideogramV3, recraftV3, qwenImage, zImageTurbo, hunyuanImage3],
]
const video = [
  ...[veo31, veo31Fast, geminiOmniFlash, kling3Pro, kling26, seedance2],
  ...[wan26, hailuo23, gen45, ltx23Pro, pixverseV5],
]
const audio = [elevenV3, minimaxSpeech26, lyria2, stableAudio25]
const text = [gpt61Terra, claudeHaiku45, gemini3Flash]

const models: Model[] = [...image, ...video, ...audio, ...text]

/** The shipped families, in the catalog's order. */
export const shipped = [...models.map(({ family }) => family), sandbox]

/** The bindings of all shipped families, each endpoint's in order of preference. */
export const bindings: readonly Binding[] = models.flatMap(model => model.bindings)

const byEndpoint = new Map(
  bindings.map(({ endpoint }) => [endpoint, bindings.filter(each => each.endpoint === endpoint)]),
)

/** The bindings of an endpoint in order of preference. */
export const bindingsOf = (endpoint: string): readonly Binding[] => byEndpoint.get(endpoint) ?? []
