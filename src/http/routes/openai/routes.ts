import { chat } from './chat.ts'

/** The routes of OpenAI's API, beside `GET /v1/models`. */
export const openAiRoutes = [chat]
