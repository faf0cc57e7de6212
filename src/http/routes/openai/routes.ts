import { chat } from './chat.ts'
import { editImages } from './edits.ts'
import { generateImages } from './images.ts'
import { respond } from './responses.ts'
import { speak } from './speech.ts'

/** The routes of OpenAI's API, beside `GET /v1/models`. */
export const openAiRoutes = [chat, respond, generateImages, editImages, speak]
