import { chat } from './chat.ts'
import { generateImages } from './images.ts'
import { speak } from './speech.ts'

/** The routes of OpenAI's API, beside `GET /v1/models`. */
export const openAiRoutes = [chat, generateImages, speak]
