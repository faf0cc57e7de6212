import { elevenV3 } from './audio/eleven-v3.ts'
import { lyria2 } from './audio/lyria-2.ts'
import { minimaxSpeech26 } from './audio/minimax-speech-2-6.ts'
import { stableAudio25 } from './audio/stable-audio-2-5.ts'
import { flux2Flex } from './image/flux-2-flex.ts'
import { flux2Pro } from './image/flux-2-pro.ts'
import { fluxKontextMax } from './image/flux-kontext-max.ts'
import { gptImage15 } from './image/gpt-image-1-5.ts'
import { hunyuanImage3 } from './image/hunyuan-image-3.ts'
import { ideogramV3 } from './image/ideogram-v3.ts'
import { imagen4Fast } from './image/imagen-4-fast.ts'
import { imagen4Ultra } from './image/imagen-4-ultra.ts'
import { nanoBanana2 } from './image/nano-banana-2.ts'
import { nanoBananaPro } from './image/nano-banana-pro.ts'
import { qwenImage } from './image/qwen-image.ts'
import { recraftV3 } from './image/recraft-v3.ts'
import { seedream45 } from './image/seedream-4-5.ts'
import { zImageTurbo } from './image/z-image-turbo.ts'
import { sandbox } from './sandbox.ts'
import { claudeHaiku45 } from './text/claude-haiku-4-5.ts'
import { gemini3Flash } from './text/gemini-3-flash.ts'
import { gpt5Mini } from './text/gpt-5-mini.ts'
import { gen45 } from './video/gen-4-5.ts'
import { hailuo23 } from './video/hailuo-2-3.ts'
import { kling26 } from './video/kling-2-6.ts'
import { ltx2Pro } from './video/ltx-2-pro.ts'
import { pixverseV5 } from './video/pixverse-v5.ts'
import { seedance15Pro } from './video/seedance-1-5-pro.ts'
import { sora2 } from './video/sora-2.ts'
import { sora2Pro } from './video/sora-2-pro.ts'
import { veo31 } from './video/veo-3-1.ts'
import { veo31Fast } from './video/veo-3-1-fast.ts'
import { wan26 } from './video/wan-2-6.ts'

const image = [
  ...[nanoBanana2, nanoBananaPro, seedream45, flux2Pro, flux2Flex, fluxKontextMax, gptImage15],
  ...[imagen4Ultra, imagen4Fast, ideogramV3, recraftV3, qwenImage, zImageTurbo, hunyuanImage3],
]
const video = [
  ...[veo31, veo31Fast, sora2, sora2Pro, kling26, seedance15Pro],
  ...[wan26, hailuo23, gen45, ltx2Pro, pixverseV5],
]
const audio = [elevenV3, minimaxSpeech26, lyria2, stableAudio25]
const text = [gpt5Mini, claudeHaiku45, gemini3Flash]

/** The shipped families, in the catalog's order. */
export const shipped = [...image, ...video, ...audio, ...text, sandbox]
